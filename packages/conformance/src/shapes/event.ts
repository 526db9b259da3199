import { z } from 'zod';
import { eventId, resourceId, time, workspaceId } from './id.ts';

const type = z.string().min(1).max(256);
const sequence = z.int().min(0);
const integer = z.int().min(0);

/** A run event in a poll, a stream or a delivery. @see Interface: Events */
export const event = {
  1: z.looseObject({
    eventId: z.string().min(1).max(128),
    runId: resourceId[1],
    type,
    sequence,
    timestamp: time,
    payload: z.unknown(),
    schemaVersion: z.int().min(1),
    engineVersion: integer,
    nodeId: z.string().optional(),
    causationId: z.string().optional(),
  }),
  2: z.strictObject({
    eventId,
    runId: resourceId[2],
    type: type.regex(/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/, 'must be a type of major 2, in lower case'),
    sequence,
    timestamp: time,
    payload: z.unknown(),
    schemaVersion: z.int().min(1),
    engineVersion: integer,
    nodeId: z.string().optional(),
    causationId: z.string().optional(),
  }),
} as const;

/** Members of a run event that both majors have. */
export interface RunEvent {
  eventId: string;
  runId: string;
  type: string;
  sequence: number;
  timestamp: string;
  payload?: unknown;
}

/** Body of a poll. */
export const polled = {
  1: z.looseObject({ events: z.array(event[1]), isComplete: z.boolean() }),
  2: z.strictObject({
    runId: resourceId[2],
    events: z.array(event[2]),
    lastSequence: z.int().min(-1),
    status: z.string().min(1),
    isTerminal: z.boolean(),
  }),
} as const;

/** Query parameter of the last sequence that was read. */
export const CURSOR = { 1: 'lastSequence', 2: 'afterSequence' } as const;

/** The body of a delivery. @see Interface: Webhook delivery body */
export const delivery = {
  1: z.looseObject({ runId: resourceId[1], workspaceId, event: event[1] }),
  2: z.strictObject({ runId: resourceId[2], workspaceId: workspaceId.optional(), event: event[2] }),
} as const;
