import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { eventStream, json } from '../http/description.ts';
import { COME_BACK, EVENT_STREAM_HEADERS } from '../http/event-stream.ts';
import { wholeNumberIn } from '../http/query.ts';
import { type MountCall, type MountRoute, mountRoute } from '../http/route.ts';
import { BEFORE_ALL_EVENTS, type EventPosition } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import { allRunsCursor } from '../streams/all-runs-cursor.ts';
import { AllRunsReader, isPast } from '../streams/all-runs-reader.ts';
import type { Followers } from '../streams/follow.ts';
import { pollAllRuns } from '../streams/poll-all-runs.ts';
import { openStream, type StreamParts } from '../streams/stream.ts';
import { isJudgedOnce, streamExpiry } from '../streams/stream-expiry.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import { polledBody, polledOfAllRuns } from '../wire/all-runs.ts';
import { runEvent } from '../wire/event.ts';
import { POSITION_FORM, parsePosition } from '../wire/event-position.ts';
import { addressedMajor, type ServedMajors, VERSION_HEADER } from './addressed-major.ts';
import { keepAliveAt, messagesOf } from './all-runs-messages.ts';

/** The parts of {@link allRunsEventRoutes}. */
export interface AllRunsEventsOptions extends StreamParts {
  readonly store: Pick<Store, 'events' | 'runs'>;
  readonly followers: Followers;
  readonly served: ServedMajors;
  /** The event types that runs of this host can have. */
  readonly subscribable: SubscribableEvents;
}

/**
 * The routes under `/host/<org>/events`: the events of all runs that the caller reaches, as one stream that can be
 * resumed, and as a poll.
 */
export function allRunsEventRoutes(options: AllRunsEventsOptions): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/events',
      scope: 'runs:read',
      describes: {
        operationId: 'streamEventsOfAllRuns',
        summary: 'Stream the events of all runs',
        description:
          'Sends the recorded events of all runs that the caller reaches, then new ones. The stream does not end with ' +
          'a run. The `id` of a message is its position in the order of all events, and `event` is its type. A silent ' +
          'stream sends a comment with the current position at least every 30 seconds. Reconnect with `Last-Event-ID` ' +
          'to continue without a gap. The host closes the stream of a reader that stops reading or whose credential ' +
          'is no longer valid. A cursor is rejected with 400 once an event after it has been removed with its run.',
        query: { types: TYPES, from: FROM },
        headers: {
          ...VERSION_HEADER,
          'Last-Event-ID': position('The `id` of the last message that the caller received.'),
        },
        answers: { 200: eventStream('The events, as they happen.', runEvent, { headers: ['Cache-Control'] }) },
      },
      async serve(call) {
        const { request, headers, principal } = call;
        const major = addressedMajor(request.url, headers, options.served);
        const lastEventId = headers.get('last-event-id') || null;
        const reader = await readerOf(options, call, { major, field: 'headers.last-event-id', cursor: lastEventId });
        const body = openStream(options, {
          reader: {
            credentialId: principal.credentialId,
            tenant: principal.tenancy.tenant,
            isAnonymous: principal.kind === 'anonymous',
          },
          tenant: principal.tenancy.tenant,
          cursor: (grown) =>
            allRunsCursor({ ...options, reader, grown, render: (events) => messagesOf(major, events) }),
          keepAlive: () => keepAliveAt(reader.position()),
          comeBack: COME_BACK,
          batch: undefined,
          expiresAt: streamExpiry(principal, options.clock.now()),
          async judgeAgain() {
            if (isJudgedOnce(principal)) return true;
            const judged = await call.judgeAgain();
            if (judged !== undefined) reader.readAs(judged);
            return judged !== undefined;
          },
        });
        return { status: 200, headers: EVENT_STREAM_HEADERS, body };
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/events/poll',
      scope: 'runs:read',
      describes: {
        operationId: 'pollEventsOfAllRuns',
        summary: 'Wait for events of all runs',
        description:
          'Returns the events after a cursor, in order. If there are none yet, the response waits for the first one ' +
          'or the timeout. Poll again with the returned cursor, also when there was no event.',
        query: {
          after: position('The `cursor` of the previous response.'),
          types: TYPES,
          from: FROM,
          timeout: z.int().min(1).max(60).default(30).describe('The longest wait for an event, in seconds.'),
        },
        headers: VERSION_HEADER,
        answers: { 200: json('The events after the cursor.', polledOfAllRuns, { headers: ['Cache-Control'] }) },
      },
      async serve(call) {
        const { principal, query } = call;
        const seconds = wholeNumberIn(query, 'timeout', { min: 1, max: 60 }) ?? DEFAULT_WAIT_SECONDS;
        const major = addressedMajor(call.request.url, call.headers, options.served);
        const events = await readerOf(options, call, { major, field: 'query.after', cursor: query.get('after') });
        const found = await pollAllRuns({
          ...options,
          events,
          reader: {
            credentialId: principal.credentialId,
            tenant: principal.tenancy.tenant,
            isAnonymous: principal.kind === 'anonymous',
          },
          waitMs: Math.min(1000 * seconds, (principal.expiresAt ?? Number.POSITIVE_INFINITY) - options.clock.now()),
          gone: call.gone,
        });
        const headers = { 'cache-control': 'private, no-store' };
        return { status: 200, headers, body: polledBody(major, found, events.position()) };
      },
    }),
  ];
}

const DEFAULT_WAIT_SECONDS = 30;
/** The bytes of payloads that a reader holds at a time. */
const PAGE_BYTES = 65_536;
/** A list that is longer than the vocabulary can only repeat itself. */
const MOST_TYPES = 200;

const TYPES: z.ZodType = z
  .string()
  .optional()
  .describe('Event types in the spelling of the major, joined by commas. Default: all.');
const FROM: z.ZodType = z
  .enum(['start', 'now'])
  .default('start')
  .describe('Where a caller without a cursor begins: with the first recorded event, or with the next one.');

function position(description: string): z.ZodType {
  return z.string().regex(POSITION_FORM).optional().describe(description);
}

interface Asked {
  readonly major: Major;
  /** The parameter or header of the cursor. */
  readonly field: string;
  /** Null: the caller sent none. */
  readonly cursor: string | null;
}

async function readerOf(
  options: AllRunsEventsOptions,
  { principal, query }: MountCall,
  { major, field, cursor }: Asked,
): Promise<AllRunsReader> {
  const { store, subscribable } = options;
  const types = typesIn(query, major, subscribable);
  const begin = beginIn(query);
  const newest = await store.events.newest();
  const after = cursor === null ? (begin === 'now' ? newest : BEFORE_ALL_EVENTS) : parsePosition(field, cursor);
  requireReached(field, after, newest);
  if (cursor !== null && isPast(await store.events.removedUpTo(principal.tenancy), after)) {
    throw invalid({ field, problem: 'must be newer: events after it have been removed. Begin without a cursor' });
  }
  return new AllRunsReader({ store, principal, after, types, pageBytes: PAGE_BYTES });
}

/** A cursor of another host, or of a store that was replaced, would skip events without a trace. */
function requireReached(field: string, after: EventPosition, newest: EventPosition): void {
  if (isPast(after, newest)) {
    throw invalid({ field, problem: 'must be a cursor of this host: it is past the last event. Begin without one' });
  }
}

function beginIn(query: URLSearchParams): 'start' | 'now' {
  const [from = 'start', ...others] = query.getAll('from');
  if (others.length === 0 && (from === 'start' || from === 'now')) return from;
  throw invalid({ field: 'query.from', problem: 'must be start or now' });
}

/** Returns the stored names of the types; undefined for all. */
function typesIn(
  query: URLSearchParams,
  major: Major,
  subscribable: SubscribableEvents,
): readonly string[] | undefined {
  const given = query.getAll('types');
  if (given.length === 0) return undefined;
  const names = given.flatMap((list) => list.split(','));
  if (names.length > MOST_TYPES)
    throw invalid({ field: 'query.types', problem: `must have at most ${MOST_TYPES} types` });
  const types = names.map((name) => {
    const found = subscribable.named(major, name);
    if ('problem' in found) throw invalid({ field: 'query.types', problem: found.problem });
    return found.type;
  });
  return [...new Set(types)];
}
