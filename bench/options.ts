import { parseArgs } from 'node:util';
import { DEFAULT_CONCURRENCY, DEFAULT_SCENARIOS, type Scenario, parseScenario } from './scenario.js';

export interface BenchOptions {
  readonly scenarios: readonly Scenario[];
  readonly concurrencies: readonly number[];
  readonly rounds: number;
  readonly profile: boolean;
  /** False: print only. */
  readonly write: boolean;
}

/** @throws {Error} an option that is none, or a value that says nothing */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: DEFAULT_SCENARIOS.join(',') },
      concurrency: { type: 'string', default: DEFAULT_CONCURRENCY.join(',') },
      rounds: { type: 'string', default: '5' },
      profile: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  return {
    scenarios: values.only.split(',').map(parseScenario),
    concurrencies: values.concurrency.split(',').map((text) => wholeNumber('--concurrency', text)),
    rounds: wholeNumber('--rounds', values.rounds),
    profile: values.profile,
    write: !values['dry-run'],
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new Error(`${option} is ${text}; expected a whole number from 1 to 99`);
  return Number(text);
}
