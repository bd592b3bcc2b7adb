export { backfill } from './backfill.js';
export { plan } from './plan.js';
export { read } from './read.js';
