import { uuid4 } from '@temporalio/workflow';
import type { Plan } from '../domain/plan.js';
import { planning } from './activities.js';
import { asRunFailure } from './failures.js';

/** Stores a plan and shows it. Writes nothing outside schema `backfill`. */
export async function plan(request: unknown = null): Promise<Plan> {
  try {
    return await planning.makePlan({ planId: uuid4(), request });
  } catch (error) {
    throw asRunFailure(error);
  }
}
