import type { Major, OperationId } from '@svc/versioning';
import { canonicalEventName } from '@svc/versioning/events';
import { bindId, projectId, resolveId } from '@svc/versioning/ids';
import { projectOwner } from '@svc/versioning/projection';
import { EVENT_TYPES } from '../events/event-types.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { EVENTS_BY_MAJOR } from './interrupt-event.ts';
import { CURSOR_PARAMETERS } from './poll.ts';

/** The answers of both majors to one read. */
export type BothBodies = Readonly<Record<Major, Json>>;

/** A read that both majors serve, with the rule by which their answers are equal. */
export interface MirroredRead {
  /**
   * Converts the answers to the form in which they have to be equal: that of major 2, without the members that one major
   * alone defines.
   */
  readonly alike: (bodies: BothBodies, tenant: string) => BothBodies;
  /** Returns the query with which a major is asked the same. Undefined: it cannot be asked. */
  readonly queryIn: Readonly<Record<Major, (query: URLSearchParams) => URLSearchParams | undefined>>;
  /** Returns whether the same read is answered at once. Absent: every one is. */
  readonly isImmediate?: (body: Json) => boolean;
}

/**
 * The reads that are compared. Streams are left out, paths that are credentials, documents that are the same for every caller,
 * and `verifyAudit`, which reads the whole log.
 */
export const MIRRORED_READS: ReadonlyMap<OperationId, MirroredRead> = new Map<OperationId, MirroredRead>([
  ['readRun', { alike: eachWith(snapshotIn2, snapshotOf2), queryIn: sameQuery() }],
  ['readArtifact', { alike: eachWith(withRunId, same), queryIn: sameQuery() }],
  ['readWorkflow', { alike: eachWith(same, same), queryIn: sameQuery() }],
  [
    'listAnnotations',
    { alike: eachWith(listIn('annotations', memberIn('target', withRunId)), same), queryIn: sameQuery() },
  ],
  [
    'pollEvents',
    {
      alike: eachWith(pollIn2, pollOf2),
      queryIn: { 1: pollQuery(2, 1), 2: pollQuery(1, 2) },
      // Otherwise the poll would wait for an event.
      isImmediate: (page) => isJsonObject(page) && (page.isTerminal === true || hasEntries(page.events)),
    },
  ],
  [
    'listDeadLetters',
    {
      alike: eachWith(listIn('deliveries', letterIn2), same),
      // Major 1 names a workspace, which a request of major 2 does not.
      queryIn: { 1: () => undefined, 2: (query) => withoutName(query, 'tenantId') },
    },
  ],
  ['listTriggerDeadLetters', { alike: eachWith(same, same), queryIn: sameQuery() }],
]);

/**
 * Returns the path parameters with which a major names the same resources. Undefined for an id of another tenant, or one that
 * is malformed.
 *
 * @param params as received, still percent-encoded
 */
export function mirroredParams(
  params: Readonly<Record<string, string>>,
  { tenant, from, to }: { readonly tenant: string; readonly from: Major; readonly to: Major },
): Readonly<Record<string, string>> | undefined {
  const spelled: [string, string][] = [];
  for (const [name, segment] of Object.entries(params)) {
    if (!BOUND_IDS.has(name)) {
      spelled.push([name, segment]);
      continue;
    }
    const resolved = resolveId(segment, { tenant, major: from, overlap: true });
    if (!resolved.ok) return undefined;
    spelled.push([name, SPELLED[to](tenant, resolved.id)]);
  }
  return Object.fromEntries(spelled);
}

const BOUND_IDS: ReadonlySet<string> = new Set(['runId', 'webhookId', 'id']);

const SPELLED: Readonly<Record<Major, (tenant: string, id: string) => string>> = {
  1: (_tenant, id) => encodeURIComponent(id),
  2: (tenant, id) => projectId(bindId(tenant, id)),
};

type Convert = (body: Json, tenant: string, other: Json) => Json;

function eachWith(first: Convert, second: Convert): MirroredRead['alike'] {
  return (bodies, tenant) => ({
    1: first(bodies[1], tenant, bodies[2]),
    2: second(bodies[2], tenant, bodies[1]),
  });
}

function same(body: Json): Json {
  return body;
}

function snapshotIn2(body: Json, tenant: string, other: Json): Json {
  const bound = bindMember(withRunId(body, tenant), 'parentRunId', tenant);
  const run = without(bound, 'startedAt', 'completedAt', 'nodeStates');
  return memberIn('owner', (owner) => ownerIn2(owner, isJsonObject(other) ? other.owner : undefined))(
    run,
    tenant,
    other,
  );
}

/** Major 1 does not tell the status of the compensation. */
function snapshotOf2(body: Json): Json {
  return without(body, 'compensationStatus');
}

/** Major 1 does not name the lane of a subject that major 2 synthesises. */
function ownerIn2(owner: Json, other: Json | undefined): Json {
  if (!isJsonObject(owner) || typeof owner.tenant !== 'string') return owner;
  const subject = isJsonObject(other) ? other.subject : undefined;
  const lane = isJsonObject(subject) && typeof subject.lane === 'string' ? subject.lane : undefined;
  const record = { ...owner, tenant: owner.tenant, ...(lane !== undefined && { attestedLane: lane }) };
  return JSON.parse(JSON.stringify(projectOwner[2](record)));
}

function pollIn2(body: Json, tenant: string, other: Json): Json {
  if (!isJsonObject(body)) return body;
  const { runStatus: status, isComplete: _complete, lastEventSeq: _last, ...page } = body;
  const bodies = isJsonObject(other) && Array.isArray(other.events) ? other.events : [];
  const events = Array.isArray(page.events)
    ? page.events.map((event, index) => eventIn2(event, tenant, bodies[index] ?? null))
    : page.events;
  return withRunId({ ...page, ...defined({ events, status }) }, tenant);
}

/** Major 1 does not tell the last sequence of the log. */
function pollOf2(body: Json, tenant: string, other: Json): Json {
  return listIn('events', comparableEvent)(without(body, 'lastSequence'), tenant, other);
}

function eventIn2(body: Json, tenant: string, other: Json): Json {
  if (!isJsonObject(body) || typeof body.type !== 'string') return body;
  const type = canonicalEventName(1, body.type) ?? body.type;
  const event = comparableEvent(withRunId({ ...body, type }, tenant));
  if (!isJsonObject(event) || !isJsonObject(event.payload)) return event;
  const bound = EVENT_TYPES.get(type)?.runIds ?? [];
  const payload = bound.reduce<Json>((members, name) => bindMember(members, name, tenant), event.payload);
  const otherPayload = isJsonObject(other) && isJsonObject(other.payload) ? other.payload : {};
  const owned = type === 'run.started' ? memberIn('owner', (owner) => ownerIn2(owner, otherPayload.owner)) : same;
  return { ...event, payload: owned(payload, tenant, other) };
}

/** The payloads of some events have a form of their own in each major. */
function comparableEvent(event: Json): Json {
  const hasForms = isJsonObject(event) && typeof event.type === 'string' && EVENTS_BY_MAJOR.has(event.type);
  return hasForms ? without(event, 'payload') : event;
}

function letterIn2(letter: Json, tenant: string): Json {
  return ['deliveryId', 'webhookId', 'runId'].reduce((body, name) => bindMember(body, name, tenant), letter);
}

function withRunId(body: Json, tenant: string): Json {
  return bindMember(body, 'runId', tenant);
}

function bindMember(body: Json, name: string, tenant: string): Json {
  const id = isJsonObject(body) ? body[name] : undefined;
  if (!isJsonObject(body) || typeof id !== 'string' || id.includes('/')) return body;
  return { ...body, [name]: bindId(tenant, id) };
}

function memberIn(name: string, convert: Convert): Convert {
  return (body, tenant, other) => {
    const member = isJsonObject(body) ? body[name] : undefined;
    if (!isJsonObject(body) || member === undefined) return body;
    return { ...body, [name]: convert(member, tenant, other) };
  };
}

function listIn(name: string, convert: (entry: Json, tenant: string, other: Json) => Json): Convert {
  return memberIn(name, (list, tenant, other) =>
    Array.isArray(list) ? list.map((entry) => convert(entry, tenant, other)) : list,
  );
}

function without(body: Json, ...names: readonly string[]): Json {
  if (!isJsonObject(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function hasEntries(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

function sameQuery(): MirroredRead['queryIn'] {
  return { 1: (query) => query, 2: (query) => query };
}

function withoutName(query: URLSearchParams, name: string): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.delete(name);
  return changed;
}

/** Renames the parameter of the last sequence. Major 2 has no value for the start of the log: it leaves the parameter out. */
function pollQuery(from: Major, to: Major): (query: URLSearchParams) => URLSearchParams {
  return (query) => {
    const given = CURSOR_PARAMETERS[from].names.map((name) => query.get(name)).find((value) => value !== null);
    const changed = new URLSearchParams({ timeout: '1' });
    const [name = ''] = CURSOR_PARAMETERS[to].names;
    if (given !== undefined && given !== null && given !== '-1') changed.set(name, given);
    return changed;
  };
}
