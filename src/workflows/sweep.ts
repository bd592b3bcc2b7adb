import { isCancellation } from '@temporalio/workflow';
import type { DroppedCopy, SweepResult } from '../domain/sweep.js';
import { optional, planning } from './activities.js';
import { asRunFailure, failureInfo } from './failures.js';

/**
 * Drops the copies of replaced rows whose time is over, one after the other, each in a transaction of its own. One that
 * somebody reads is left for the next sweep.
 */
export async function sweep(): Promise<SweepResult> {
  try {
    return await dropAll();
  } catch (error) {
    throw asRunFailure(error);
  }
}

async function dropAll(): Promise<SweepResult> {
  const dropped: DroppedCopy[] = [];
  const left: SweepResult['left'][number][] = [];
  for (const { planId, table } of await planning.findOverdue()) {
    try {
      const copy = await optional.dropCopy({ planId });
      if (copy) dropped.push(copy);
    } catch (error) {
      if (isCancellation(error)) throw error;
      left.push({ planId, table, why: failureInfo(error).message });
    }
  }
  return { dropped, left };
}
