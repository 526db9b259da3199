import type { Major } from '@svc/versioning';
import { eventName } from '@svc/versioning/events';
import { z } from 'zod';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import { admits, type EventMode } from '../streams/mode.ts';
import { eventBody, runEvent } from './event.ts';
import { snapshot, snapshotBody } from './run.ts';
import { jsonObject } from './schemas.ts';

/** The schema of the data of a message, whatever its event is called. */
export const streamed: Readonly<Record<Major, z.ZodType>> = { 1: dataIn(1), 2: dataIn(2) };

function dataIn(major: Major): z.ZodType {
  const chunk = jsonObject.describe('The payload of `output.chunk`, as `ai.message.chunk`.');
  const one = z.union([runEvent[major], snapshot[major], chunk]);
  return z.union([one, z.array(one).describe('Of a `batch`.')]);
}

/** What a stream says of one event. */
export interface StreamFrame {
  readonly id: number;
  readonly event: string;
  /** JSON. */
  readonly data: string;
}

/** What the chosen modes show of an event; undefined when none of them admits it. */
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

/** The run as an event left it. */
export function snapshotFrame(major: Major, run: Run): StreamFrame {
  return { id: run.lastSequence, event: 'state.snapshot', data: JSON.stringify(snapshotBody(major, run)) };
}

/** Whether a stream of values shows the run anew after an event: after every update, and in major 1 when a node begins, too. */
export const movesValues: Readonly<Record<Major, (type: string) => boolean>> = {
  1: (type) => type === 'node.started' || admits('updates', type),
  2: (type) => admits('updates', type),
};
