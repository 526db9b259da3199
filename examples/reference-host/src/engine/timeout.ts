import type { EngineRefusal, Json } from '@svc/host-kit';
import { isWhole } from './whole.ts';
import { NodeFailure } from './workflow.ts';

/** Checks the input `timeoutMs` of a workflow that asks: absent, or up to seven days. */
export function timeoutRefusal(timeoutMs: Json | undefined): EngineRefusal | undefined {
  if (timeoutMs === undefined || isWhole(timeoutMs, 0, LONGEST_MS)) return undefined;
  return { field: 'inputs.timeoutMs', problem: `must be a whole number of milliseconds from 0 to ${LONGEST_MS}` };
}

const LONGEST_MS = 7 * 24 * 60 * 60 * 1000;

/** Makes the failure of a node whose question had no answer before its timeout. */
export function unanswered(message: string): NodeFailure {
  return new NodeFailure({ code: 'sample.unanswered', message, retryable: false });
}
