export { backfill } from './backfill.js';
export { plan } from './plan.js';
export { prune } from './prune.js';
export { read } from './read.js';
export { sweep } from './sweep.js';
