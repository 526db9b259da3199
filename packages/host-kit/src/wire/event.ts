import type { Major } from '@svc/versioning';
import { eventName } from '@svc/versioning/events';
import { bindId } from '@svc/versioning/ids';
import { projectOwner } from '@svc/versioning/projection';
import { z } from 'zod';
import { EVENT_TYPES } from '../events/event-types.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import { interruptPayload } from './interrupt-event.ts';
import { jsonValue, runId } from './schemas.ts';

/** The id of a run in the form of a major: bare in major 1, bound to its tenant in major 2. */
export const runIdOf: Readonly<Record<Major, (run: Pick<Run, 'tenant' | 'runId'>) => string>> = {
  1: ({ runId }) => runId,
  2: ({ tenant, runId }) => bindId(tenant, runId),
};

/** The schema of an event: open in major 1, closed in major 2. */
export const runEvent: Readonly<Record<Major, z.ZodType>> = {
  1: z.object(eventMembers(1)).meta({ id: 'RunEvent' }),
  2: z.strictObject(eventMembers(2)).meta({ id: 'RunEvent' }),
};

/** The schemas of the members of an event in a major. */
function eventMembers(major: Major) {
  return {
    eventId: z.string().min(16).max(128),
    runId: runId[major],
    type: z.string().describe('The type of the event, in the vocabulary of the major.'),
    sequence: z.int().min(0).describe('The position in the log of the run, from 0 and without gaps.'),
    timestamp: z.iso.datetime(),
    payload: jsonValue,
    schemaVersion: z.int().min(1),
    engineVersion: z.int().min(0),
    nodeId: z.string().optional(),
    causationId: z.string().optional().describe('The id of the cause of this event, for example of a delivery.'),
  };
}

/** An event in the form of a major, with its payload. @see Interface: Events */
export function eventBody(major: Major, run: Run, event: RunEvent): JsonObject {
  const { nodeId, causationId } = event;
  return {
    eventId: event.eventId,
    runId: runIdOf[major](run),
    type: eventName(major, event.type),
    sequence: event.sequence,
    timestamp: new Date(event.timestamp).toISOString(),
    payload: payloadOf(major, run, event),
    schemaVersion: event.schemaVersion,
    engineVersion: event.engineVersion,
    ...(nodeId !== undefined && { nodeId }),
    ...(causationId !== undefined && { causationId }),
  };
}

/**
 * The member `owner` of a run in the form of a major. Empty on a host with one tenant.
 *
 * @see Interface: Run owner (identity triple)
 */
export function ownerMember(major: Major, { owner }: Pick<Run, 'owner'>): { readonly owner?: JsonObject } {
  return owner === undefined ? {} : { owner: JSON.parse(JSON.stringify(projectOwner[major](owner))) };
}

/** `run.started` repeats the owner of the run, in the form of the major. @see Interface: Run owner (identity triple) */
function payloadOf(major: Major, run: Run, event: RunEvent): Json {
  if (event.type !== 'run.started') return withRunIds(major, run, event.type, interruptPayload(major, run, event));
  return isJsonObject(event.payload) ? { ...event.payload, ...ownerMember(major, run) } : event.payload;
}

/** Members with the id of another run are stored as in major 1. */
function withRunIds(major: Major, { tenant }: Run, type: string, payload: Json): Json {
  const members = EVENT_TYPES.get(type)?.runIds;
  if (major === 1 || members === undefined || !isJsonObject(payload)) return payload;
  const bound = members.flatMap((name) => {
    const id = payload[name];
    return typeof id === 'string' ? [[name, bindId(tenant, id)] as const] : [];
  });
  return { ...payload, ...Object.fromEntries(bound) };
}
