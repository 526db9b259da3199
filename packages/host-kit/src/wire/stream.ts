import type { Major } from '@svc/versioning';
import { eventName } from '@svc/versioning/events';
import { z } from 'zod';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { FoldedRun } from '../runs/after-event.ts';
import { admits, type EventMode } from '../streams/mode.ts';
import { eventBody, runEvent } from './event.ts';
import { snapshot, snapshotBody } from './run.ts';
import { jsonObject } from './schemas.ts';

/** The schema of the `data` of every stream message. */
export const streamed: Readonly<Record<Major, z.ZodType>> = { 1: dataIn(1), 2: dataIn(2) };

function dataIn(major: Major): z.ZodType {
  const chunk = jsonObject.describe('The payload of an `output.chunk` event, in a message `ai.message.chunk`.');
  const one = z.union([runEvent[major], snapshot[major], chunk]);
  return z.union([one, z.array(one).describe('The data of a `batch` message.')]);
}

/** A message of a stream. */
export interface StreamFrame {
  /** The sequence of its event. */
  readonly id: number;
  /** The name of the message. */
  readonly event: string;
  /** The content as JSON text. */
  readonly data: string;
}

/** The message of an event in the first of the modes that admits it. Undefined when no mode admits it. */
export function eventFrame(
  major: Major,
  modes: readonly EventMode[],
  run: Run,
  event: RunEvent,
): StreamFrame | undefined {
  const mode = modes.find((each) => admits(each, event.type));
  if (mode === undefined) return undefined;
  const content = mode === 'messages' ? event.payload : eventBody(major, run, event);
  const name = modes.length > 1 ? mode : mode === 'messages' ? 'ai.message.chunk' : eventName(major, event.type);
  return { id: event.sequence, event: name, data: JSON.stringify(content) };
}

/** The message with the snapshot of a run after its last event. */
export function snapshotFrame(major: Major, run: FoldedRun): StreamFrame {
  return { id: run.lastSequence, event: 'state.snapshot', data: JSON.stringify(snapshotBody(major, run, run.values)) };
}

/** Whether an event is followed by a new snapshot in mode `values`: every update is, in major 1 also `node.started`. */
export const movesValues: Readonly<Record<Major, (type: string) => boolean>> = {
  1: (type) => type === 'node.started' || admits('updates', type),
  2: (type) => admits('updates', type),
};
