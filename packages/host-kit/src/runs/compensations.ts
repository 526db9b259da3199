import { isJsonObject, type Json } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';

/** The compensation of one node. */
export interface NodeCompensation {
  readonly nodeId: string;
  readonly state: 'pending' | 'running' | 'completed' | 'failed';
  /** The attempts that were started. */
  readonly attempts: number;
  /** The time of the last change, in ms since the epoch. */
  readonly at: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Reads the compensations of a log, in their order: the node that completed last comes first. */
export async function compensationsOf(log: AsyncIterable<RunEvent>): Promise<readonly NodeCompensation[]> {
  const found = new Map<string, NodeCompensation>();
  for await (const event of log) {
    const nodeId = text(event.payload, 'nodeId');
    if (nodeId === undefined) continue;
    const after = afterEvent(found.get(nodeId), nodeId, event);
    if (after !== undefined) found.set(nodeId, after);
  }
  return [...found.values()].reverse();
}

function afterEvent(
  before: NodeCompensation | undefined,
  nodeId: string,
  { type, payload, timestamp: at }: RunEvent,
): NodeCompensation | undefined {
  if (type === 'node.completed' && isJsonObject(payload) && payload['x-compensable'] === true) {
    return { nodeId, state: 'pending', attempts: 0, at };
  }
  const { attempts = 0 } = before ?? {};
  if (type === 'compensation.started') return { nodeId, state: 'running', attempts: attempts + 1, at };
  if (type === 'compensation.completed') return { nodeId, state: 'completed', attempts, at };
  if (type !== 'compensation.failed') return undefined;
  const error = isJsonObject(payload) && payload.error !== undefined ? payload.error : null;
  const code = text(error, 'code') ?? 'internal_error';
  return { nodeId, state: 'failed', attempts, at, error: { code, message: text(error, 'message') ?? '' } };
}

function text(value: Json, name: string): string | undefined {
  const member = isJsonObject(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : undefined;
}
