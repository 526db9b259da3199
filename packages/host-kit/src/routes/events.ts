import type { Major } from '@svc/versioning';
import { HostError, invalid } from '../errors.ts';
import { COME_BACK, EVENT_STREAM_HEADERS, KEEP_ALIVE, messageText, takesEventStream } from '../http/event-stream.ts';
import { wholeNumberIn } from '../http/query.ts';
import { type AuthorizedCall, type Reply, type Route, route } from '../http/route.ts';
import { yieldToLoop } from '../ports/clock.ts';
import type { EventStore } from '../ports/events.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import { beforeFirstEvent } from '../runs/after-event.ts';
import { cursor } from '../streams/cursor.ts';
import { runAt } from '../streams/fold.ts';
import type { Followers } from '../streams/follow.ts';
import { type EventMode, parseStreamMode, STREAM_MODES } from '../streams/mode.ts';
import type { Pages, View } from '../streams/pages.ts';
import { poll } from '../streams/poll.ts';
import { openStream, type StreamParts } from '../streams/stream.ts';
import { isJudgedOnce, streamExpiry } from '../streams/stream-expiry.ts';
import { CURSOR_PARAMETERS, pollBody } from '../wire/poll.ts';
import { snapshotFrame } from '../wire/stream.ts';
import { POLL, STREAM } from './event-descriptions.ts';
import { batchOf, viewOf } from './event-view.ts';
import { addressedRun, type RunAddressOptions } from './run-address.ts';

export interface EventRoutesOptions extends StreamParts, RunAddressOptions {
  readonly store: RunAddressOptions['store'] & { readonly events: EventStore };
  readonly pages: Pages;
  readonly followers: Followers;
}

/** Defines the routes that stream and poll the log of a run. @see Interface: Events */
export function eventRoutes(options: EventRoutesOptions): Route[] {
  return [
    route({
      operationId: 'streamEvents',
      scope: 'runs:read',
      describes: STREAM,
      async serve(call) {
        const asked = {
          modes: modesIn(call.query),
          bufferMs: wholeNumberIn(call.query, 'bufferMs', { min: 0, max: LONGEST_BUFFER_MS }) ?? 0,
          after: lastEventIdIn(call.headers),
        };
        if (ANSWERS_IN_JSON[call.major] && !takesEventStream(call.headers.get('accept'))) {
          const page = await polled(options, call, asked.after ?? cursorIn(call), 0);
          return { ...page, headers: { ...page.headers, ...VARY[call.major] } };
        }
        return streamed(options, call, asked);
      },
    }),
    route({
      operationId: 'pollEvents',
      scope: 'runs:read',
      describes: POLL,
      async serve(call) {
        const after = cursorIn(call);
        const seconds = wholeNumberIn(call.query, 'timeout', { min: 1, max: 60 }) ?? DEFAULT_WAIT_SECONDS;
        return polled(options, call, after, 1000 * seconds);
      },
    }),
  ];
}

const LONGEST_BUFFER_MS = 5000;
const DEFAULT_WAIT_SECONDS = 30;

/** True: a caller that does not accept an event stream gets a page of the log instead. */
const ANSWERS_IN_JSON: Readonly<Record<Major, boolean>> = { 1: true, 2: false };

interface Asked {
  readonly modes: 'values' | readonly EventMode[];
  readonly bufferMs: number;
  readonly after: number | undefined;
}

async function streamed(options: EventRoutesOptions, call: AuthorizedCall, asked: Asked): Promise<Reply> {
  const { store, clock } = options;
  const { major, principal } = call;
  const { modes, bufferMs, after } = asked;
  const run = await addressedRun(options, call);
  const view = viewOf(major, modes, bufferMs > 0);
  if (after !== undefined && (await hasNothingAfter(options, run, { ...asked, view, after }, call.gone())))
    return { status: 204, headers: { 'cache-control': 'no-store', ...VARY[major] } };
  const body = openStream(options, {
    reader: { runId: run.runId, credentialId: principal.credentialId, tenant: run.tenant },
    tenant: run.tenant,
    cursor: (grown) =>
      cursor({
        ...options,
        view,
        run,
        after: after ?? -1,
        async begin(isOver) {
          if (modes !== 'values' || after === undefined) return { run: beforeFirstEvent(run), bytes: NOTHING };
          const begun = await runAt(store, run, after, isOver);
          return { run: begun, bytes: Buffer.from(messageText({ ...snapshotFrame(major, begun), id: after })) };
        },
        grown,
        current: () => readable(store, principal.tenancy, run.runId),
      }),
    keepAlive: () => KEEP_ALIVE,
    comeBack: COME_BACK,
    batch: bufferMs > 0 ? batchOf(bufferMs) : undefined,
    expiresAt: streamExpiry(principal, clock.now()),
    async judgeAgain() {
      if (isJudgedOnce(principal)) return true;
      const judged = await call.judgeAgain();
      return judged !== undefined && (await readable(store, judged.tenancy, run.runId)) !== undefined;
    },
  });
  return { status: 200, headers: { ...EVENT_STREAM_HEADERS, ...VARY[major] }, body };
}

/**
 * Whether a run has ended, and a stream from `after` would show none of its events. Answering 200 would make an
 * `EventSource` reconnect for ever.
 *
 * @see WHATWG HTML, server-sent events: the status 204 tells a client to stop reconnecting
 */
async function hasNothingAfter(
  { pages }: Pick<EventRoutesOptions, 'pages'>,
  run: Run,
  { modes, view, after }: Pick<Asked, 'modes'> & { readonly view: View; readonly after: number },
  gone: AbortSignal,
): Promise<boolean> {
  if (!isTerminal(run.status)) return false;
  // Mode `values` shows the last event of every run.
  if (modes === 'values') return after >= run.lastSequence;
  let last = after;
  while (last < run.lastSequence && !gone.aborted) {
    const page = await pages.read(beforeFirstEvent(run), view, last);
    if (page === undefined || page.shown !== undefined) return false;
    last = page.last;
    await yieldToLoop();
  }
  return last >= run.lastSequence;
}

const NOTHING = new Uint8Array();

async function polled(
  options: EventRoutesOptions,
  call: AuthorizedCall,
  after: number,
  waitMs: number,
): Promise<Reply> {
  const { credentialId, expiresAt = Number.POSITIVE_INFINITY } = call.principal;
  const run = await addressedRun(options, call);
  const found = await poll(options, {
    run,
    credentialId,
    after,
    waitMs: Math.min(waitMs, expiresAt - options.clock.now()),
    gone: call.gone,
    current: () => addressedRun(options, call),
  });
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: pollBody[call.major](found),
  };
}

/** Response headers where the answer depends on the `Accept` header. */
const VARY: Readonly<Record<Major, Readonly<Record<string, string>>>> = { 1: { vary: 'Accept' }, 2: {} };

async function readable(
  store: RunAddressOptions['store'],
  tenancy: AuthorizedCall['principal']['tenancy'],
  runId: string,
): Promise<Run | undefined> {
  const lookup = await store.runs.read(tenancy, runId);
  return lookup.kind === 'found' ? lookup.value : undefined;
}

/** @throws {HostError} `unsupported_stream_mode` */
function modesIn(query: URLSearchParams): Asked['modes'] {
  const given = query.getAll('streamMode');
  const modes = given.length > 1 ? undefined : parseStreamMode(given[0] ?? 'updates');
  if (modes !== undefined) return modes;
  const message =
    'streamMode must be "values" by itself, or a list of "updates", "messages" and "debug" joined by commas.';
  throw new HostError('unsupported_stream_mode', message, { details: { supported: STREAM_MODES } });
}

function lastEventIdIn(headers: Headers): number | undefined {
  const text = headers.get('last-event-id') ?? '';
  if (text === '') return undefined;
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw invalid({
    field: 'headers.last-event-id',
    problem: 'must be the id of an event of this stream, a whole number',
  });
}

/** Returns -1, the start of the log, when the query has no cursor. */
function cursorIn({ major, query }: AuthorizedCall): number {
  const { names, min } = CURSOR_PARAMETERS[major];
  for (const name of names) {
    const cursor = wholeNumberIn(query, name, { min, max: Number.MAX_SAFE_INTEGER });
    if (cursor !== undefined) return cursor;
  }
  return -1;
}
