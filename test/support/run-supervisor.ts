/** A process that keeps a worker running, for tests that kill it. Arguments: the folder, the worker's script. */
import { superviseWorker } from '../../src/dev/worker-process.js';

const [folder = '', script = ''] = process.argv.slice(2);
superviseWorker({ command: [process.execPath, '-e', script], env: {}, log: () => {}, folder });
