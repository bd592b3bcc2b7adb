import { execFileSync, spawnSync } from 'node:child_process';
import { inject, test } from 'vitest';
import { FACT, factTable } from '../support/fact.js';
import { createHarness } from '../support/harness.js';
test('look', async () => {
  let t = Date.now();
  const lap = (s: string) => { console.log(s, Date.now() - t); t = Date.now(); };
  const h = await createHarness(FACT, { tables: [factTable()] });
  lap('harness');
  const run = (file: string, args: string[]) => new Promise<void>((done) => {
    import('node:child_process').then(({ execFile }) => execFile(file, args, { env: h.env }, (error, out, err) => {
      lap(args.slice(0, 4).join(' ')); console.log(error?.code, out, err); done();
    }));
  });
  const temporal = (type: string, input: string) => run(inject('temporalCli'), ['workflow', 'execute', '--type', type, '--task-queue', 'backfill', '--workflow-id', `x${Math.random()}`, '--input', input, '-o', 'json']);
  await temporal('plan', '{"table":"fact","from":"2024-03-03","to":"2024-03-03"}');
  await temporal('backfill', '{"table":"fact","from":"2024-03-03","to":"2024-03-03"}');
  await temporal('backfill', '{}');
  await temporal('backfill', '{"table":"fact","from":"2024-02-30","to":"2024-03-03"}');
  await run(process.execPath, ['dist/cli/main.js', 'plan', 'fact', '--from', '2024-03-03', '--to', '2024-03-04', '--json']);
  await run(process.execPath, ['dist/cli/main.js', 'plan', 'fact', '--from', '2024-03-03', '--to', '2024-03-04']);
  await run(process.execPath, ['dist/cli/main.js', 'start', 'fact', '--from', '2024-03-03', '--to', '2024-03-04', '--yes', '--json']);
  await run(process.execPath, ['dist/cli/main.js', 'start', 'fact', '--from', '2024-02-30', '--to', '2024-03-04', '--yes', '--json']);
  await run(process.execPath, ['dist/cli/main.js', 'plan', '--help']);
  await h.close();
  lap('close');
});
