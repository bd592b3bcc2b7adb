import { BackfillClient } from '../client/backfill-client.js';
import { configuredAddress } from '../client/session.js';
import type { CliConnection } from './io.js';

/** Where the embedded stack of the working folder keeps its state. */
export const STATE_FOLDER = '.backfill';

/**
 * Connects to the Temporal that the environment or Temporal's config file names; where none does, to the embedded stack
 * of this folder; where none runs, to Temporal's default address.
 */
export async function connect(env: NodeJS.ProcessEnv): Promise<CliConnection> {
  const isNamed = Boolean(env['TEMPORAL_PROFILE']) || configuredAddress({ env }) !== undefined;
  const state = isNamed ? undefined : await readDevState();
  const client = await BackfillClient.connect({ env, address: state?.temporalAddress });
  return { client, uiUrl: env['BACKFILL_UI_URL'] || state?.uiUrl || null };
}

/** Undefined where no embedded stack runs in this folder. */
export async function readDevState() {
  const { readState } = await import('../dev/state.js');
  return readState(STATE_FOLDER);
}
