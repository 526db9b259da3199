import { z } from 'zod';
import type { Api, CallOptions } from '../api.ts';
import { area, type Check } from '../check.ts';
import type { EventStream, StreamSeen } from '../event-stream.ts';
import { anObject, body, fits, header, holds, refused, same, shown } from '../expect.ts';
import { type Answer, described, jsonOf } from '../http/answer.ts';
import type { Frame } from '../http/frames.ts';
import { Mismatch } from '../mismatch.ts';
import { fixture, overlap, scopes, shortened } from '../needs.ts';
import { CURSOR, polled, type RunEvent, event as runEvent } from '../shapes/event.ts';
import { bareId, segment, unknownId } from '../shapes/id.ts';
import { snapshot, TERMINAL_EVENTS } from '../shapes/run.ts';
import { CANCELLABLE, endedRun, FAILURE, logOf, NOOP, startRun, untilStatus } from '../steps/runs.ts';
import type { World } from '../world.ts';

const SHAPE = 'Events';
const STREAM = 'Endpoints: event stream';
const POLL = 'Endpoints: event poll';

/** The events of a run: what they are, as they are polled, and as they are streamed. */
export const events: readonly Check[] = area('events', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'envelope',
    name: 'Every event has the required members, an integer `engineVersion` and an `eventId` of its own.',
    rule: [SHAPE, 'events.shape.fields'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      for (const one of log) same(one.runId, runId, 'runId of every event');
      holds(new Set(log.map(({ eventId }) => eventId)).size === log.length, 'an eventId for each event', shown(log));
    },
  },
  {
    id: 'sequence',
    name: 'The log begins with `run.started` at sequence 0, and sequences increase.',
    rule: [SHAPE, 'events.shape.sequence-integer'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      same(log[0]?.type, 'run.started', 'the first event');
      const sequences = log.map(({ sequence }) => sequence);
      holds(
        sequences[0] === 0 && sequences.every((one, at) => at === 0 || one > (sequences[at - 1] ?? one)),
        'sequences that begin at 0 and grow',
        sequences,
      );
    },
  },
  {
    id: 'started-payload',
    name: 'The payload of `run.started` contains the `workflowId`.',
    rule: [SHAPE, 'events.types.started-not-redacted'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const [started] = await logOf(world, runId);
      same(fits(started?.payload, anObject).workflowId, NOOP, 'workflowId in run.started');
    },
  },
  {
    id: 'one-terminal',
    name: 'A run that has ended has exactly one terminal event, and it is the last.',
    rule: [SHAPE, 'events.shape.known-types'],
    needs: [fixture(NOOP), fixture(FAILURE)],
    async run(world) {
      for (const [workflowId, type] of [
        [NOOP, 'run.completed'],
        [FAILURE, 'run.failed'],
      ] as const) {
        const { runId } = await endedRun(world, workflowId);
        const types = (await logOf(world, runId)).map((one) => one.type);
        same(
          types.filter((one) => TERMINAL_EVENTS.includes(one)),
          [type],
          'the terminal events',
        );
        same(types.at(-1), type, 'the last event');
      }
    },
  },
  {
    id: 'same-log-in-both-majors',
    name: 'Both majors serve the same events of a run in the same order, each in its own form.',
    rule: ['Versioning: Overlap behaviour', 'versioning.ids.no-bare-id-in-v2'],
    majors: [2],
    needs: [overlap, fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const [one, two] = [await logOf(world, bareId(runId), world.under(1)), await logOf(world, runId)];
      const identity = (log: readonly RunEvent[]) =>
        log.map(({ eventId, sequence, timestamp }) => [eventId, sequence, Date.parse(timestamp)]);
      same(identity(one), identity(two), 'eventId, sequence and timestamp under major 1');
    },
  },
  {
    id: 'poll-page',
    name: 'A poll is answered with a page of events in the form of the major, which says whether the run has ended.',
    rule: POLL,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId, status } = await endedRun(world);
      const answer = await poll(world.api, runId);
      if (world.major === 1) {
        holds(body(answer, 200, polled[1]).isComplete, 'isComplete', described(answer), answer);
        return;
      }
      const page = body(answer, 200, polled[2]);
      same([page.runId, page.status, page.isTerminal], [runId, status, true], 'runId, status and isTerminal', answer);
      same(page.lastSequence, page.events.at(-1)?.sequence, 'lastSequence', answer);
    },
  },
  {
    id: 'poll-cursor',
    name: 'A poll returns only events with a sequence above its cursor.',
    rule: POLL,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      holds(log.length >= 2, 'two events at least', log.length);
      const answer = await poll(world.api, runId, { [CURSOR[world.major]]: 0 });
      same(
        eventsIn(answer).map(({ sequence }) => sequence),
        log.slice(1).map(({ sequence }) => sequence),
        'the sequences behind 0',
        answer,
      );
    },
  },
  {
    id: 'poll-past-end',
    name: 'A poll with a cursor after the last event of a run that has ended is answered 200 at once, without events.',
    rule: POLL,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const answer = await poll(world.api, runId, { [CURSOR[world.major]]: 1_000_000, timeout: 8 });
      same(eventsIn(answer), [], 'the events', answer);
      holds(
        answer.took < 4000,
        'an answer at once, as nothing can come any more',
        `${Math.round(answer.took)} ms`,
        answer,
      );
    },
  },
  {
    id: 'poll-bad-cursor-400',
    name: 'A poll with a cursor that is not a whole number is answered 400 `validation_error`.',
    rule: POLL,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      for (const cursor of ['x', '1.5', '-2']) {
        refused(await poll(world.api, runId, { [CURSOR[world.major]]: cursor }), 400, 'validation_error');
      }
    },
  },
  {
    id: 'poll-waits',
    name: 'A poll without new events waits for its timeout, and is answered as soon as an event occurs.',
    rule: POLL,
    needs: [fixture(CANCELLABLE), scopes('runs:cancel')],
    async run(world) {
      const { api, major } = world;
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 50_000 } });
      await untilStatus(world, runId, ['running']);
      const last = (await quietLog(world, runId)).at(-1);
      const cursor = { [CURSOR[major]]: last?.sequence ?? 0 };
      const waited = await poll(api, runId, { ...cursor, timeout: 1 });
      same(eventsIn(waited), [], 'the events while nothing happens', waited);
      holds(waited.took >= 800, 'a wait of about 1 s', `${Math.round(waited.took)} ms`, waited);
      const waking = poll(api, runId, { ...cursor, timeout: 20 });
      await world.sleep(300);
      await api.post(`/runs/${segment(runId)}/cancel`, {});
      const woken = await waking;
      holds(eventsIn(woken).length > 0, 'the event that came', described(woken), woken);
      holds(
        woken.took < 15_000,
        'an answer when the event comes, and not at the end of the timeout',
        `${Math.round(woken.took)} ms`,
        woken,
      );
    },
  },
  {
    id: 'stream-frames',
    name: 'A stream is `text/event-stream`; a frame has the sequence as `id`, the type as `event`, the event as `data`.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const { stream, seen } = await streamed(world, runId, { streamMode: 'debug' });
      header(stream.answer, 'SVC-Version', new RegExp(`^${world.major}\\.`));
      holds(seen.frames.length > 0, 'frames', 'none', stream.answer);
      for (const frame of seen.frames) {
        const one = fits(jsonOf({ text: frame.data }), runEvent[world.major], stream.answer);
        same([frame.id, frame.event], [String(one.sequence), one.type], 'id and event of the frame', stream.answer);
      }
    },
  },
  {
    id: 'stream-ends',
    name: 'A stream is closed after the terminal event, also when it is opened after the run has ended.',
    rule: STREAM,
    needs: [fixture(NOOP), fixture(FAILURE)],
    async run(world) {
      for (const workflowId of [NOOP, FAILURE]) {
        const { runId } = await endedRun(world, workflowId);
        const { stream, seen } = await streamed(world, runId);
        const last = seen.frames.at(-1)?.event ?? 'nothing';
        holds(seen.ended && TERMINAL_EVENTS.includes(last), 'a terminal event and the end', last, stream.answer);
      }
    },
  },
  {
    id: 'stream-live',
    name: 'An open stream sends an event when it occurs.',
    rule: STREAM,
    needs: [fixture(CANCELLABLE), scopes('runs:cancel')],
    async run(world) {
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 20_000 } });
      const stream = await opened(world.api, runId);
      await stream.read(({ frames }) => frames.some(({ event }) => event === 'run.started'));
      await world.api.post(`/runs/${segment(runId)}/cancel`, {});
      const seen = await stream.read();
      same(seen.frames.at(-1)?.event, 'run.cancelled', 'the last frame', stream.answer);
    },
  },
  {
    id: 'stream-debug',
    name: 'A stream in mode `debug` sends every event of the log in order.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      const { stream, seen } = await streamed(world, runId, { streamMode: 'debug' });
      same(
        seen.frames.map(({ id }) => id),
        log.map(({ sequence }) => String(sequence)),
        'the ids',
        stream.answer,
      );
    },
  },
  {
    id: 'stream-updates-default',
    name: 'A stream without a mode has the mode `updates`, which omits the inner steps of the run.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const [plain, updates] = [await streamed(world, runId), await streamed(world, runId, { streamMode: 'updates' })];
      same(types(plain.seen), types(updates.seen), 'the frames without a mode', plain.stream.answer);
      const inner = types(updates.seen).filter((type) => NOT_UPDATES.some((other) => type.startsWith(other)));
      same(inner, [], 'the frames that are no updates', updates.stream.answer);
      const expected = (await logOf(world, runId)).map((one) => one.type).filter((type) => UPDATES.includes(type));
      same(
        types(updates.seen).filter((type) => UPDATES.includes(type)),
        expected,
        'the updates',
        updates.stream.answer,
      );
    },
  },
  {
    id: 'stream-values',
    name: 'A stream in mode `values` sends snapshots of the run, the last one with the final status.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const run = await endedRun(world);
      const { stream, seen } = await streamed(world, run.runId, { streamMode: 'values' });
      same([...new Set(types(seen))], ['state.snapshot'], 'the names of the frames', stream.answer);
      const read = seen.frames.map(({ data }) => fits(jsonOf({ text: data }), snapshot[world.major], stream.answer));
      same([read.at(-1)?.runId, read.at(-1)?.status], [run.runId, run.status], 'the last snapshot', stream.answer);
    },
  },
  {
    id: 'stream-messages',
    name: 'A stream in mode `messages` sends only message chunks, and is closed when the run ends.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const { stream, seen } = await streamed(world, runId, { streamMode: 'messages' });
      same(
        types(seen).filter((type) => type !== 'ai.message.chunk'),
        [],
        'other frames',
        stream.answer,
      );
      holds(seen.ended, 'the end of the stream', 'none', stream.answer);
    },
  },
  {
    id: 'stream-mode-400',
    name: 'An unknown mode, or `values` joined with another mode, is answered 400 with the list of modes.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      for (const streamMode of ['conformance', 'values,updates', 'updates,conformance']) {
        for (const Accept of ['text/event-stream', 'application/json']) {
          const answer = await world.api.get(`/runs/${segment(runId)}/events`, {
            query: { streamMode },
            headers: { Accept },
          });
          const { details } = refused(answer, 400, 'unsupported_stream_mode');
          const supported = fits(details?.supported, z.array(z.string()), answer);
          holds(
            supported.includes('updates') && !supported.some((mode) => mode.includes(',')),
            'each mode by itself in details.supported',
            supported,
            answer,
          );
        }
      }
    },
  },
  {
    id: 'stream-resumes',
    name: 'A stream with `Last-Event-ID` begins with the event after that id.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const whole = await streamed(world, runId, { streamMode: 'debug' });
      const ids = whole.seen.frames.map(({ id }) => id);
      holds(ids.length >= 2, 'two frames at least', ids, whole.stream.answer);
      const headers = { 'Last-Event-ID': ids[0] ?? '' };
      const rest = await streamed(world, runId, { streamMode: 'debug' }, { headers });
      same(
        rest.seen.frames.map(({ id }) => id),
        ids.slice(1),
        'the ids behind the first',
        rest.stream.answer,
      );
    },
  },
  {
    id: 'stream-values-resumes',
    name: 'A resumed stream in mode `values` begins with a snapshot.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const { stream, seen } = await streamed(
        world,
        runId,
        { streamMode: 'values' },
        { headers: { 'Last-Event-ID': '0' } },
      );
      same(seen.frames[0]?.event, 'state.snapshot', 'the first frame', stream.answer);
    },
  },
  {
    id: 'stream-batches',
    name: 'With `bufferMs`, each frame is a batch: an array of events, with their highest sequence as `id`.',
    rule: STREAM,
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      const { stream, seen } = await streamed(world, runId, { streamMode: 'debug', bufferMs: 200 });
      const batches = seen.frames.map((frame) => batchIn(frame, stream.answer));
      same([...new Set(types(seen))], ['batch'], 'the names of the frames', stream.answer);
      same(
        batches.flat(),
        log.map(({ sequence }) => sequence),
        'the sequences in the batches',
        stream.answer,
      );
      same(
        seen.frames.map(({ id }) => id),
        batches.map((batch) => String(Math.max(...batch))),
        'the ids',
        stream.answer,
      );
    },
  },
  {
    id: 'stream-buffer-400',
    name: 'A `bufferMs` above 5000, or one that is not a whole number, is answered 400 `validation_error`.',
    rule: [STREAM, 'operations.runs.buffer-limit'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      for (const bufferMs of ['5001', '-1', 'x', '0.5']) {
        const query = { bufferMs };
        refused(await world.api.get(`/runs/${segment(runId)}/events`, { query }), 400, 'validation_error');
      }
    },
  },
  {
    id: 'stream-unknown-404',
    name: 'The event stream and the event poll of a run that does not exist are answered 404.',
    rule: STREAM,
    async run({ api, major, target }) {
      const run = `/runs/${segment(unknownId(major, target.tenant))}`;
      for (const path of [`${run}/events`, `${run}/events/poll`]) refused(await api.get(path), 404, 'not_found');
    },
  },
  {
    id: 'stream-keep-alive',
    name: 'An idle stream sends a comment at least every 30 seconds.',
    rule: STREAM,
    needs: [fixture(CANCELLABLE), shortened('keepAliveMs', 'keep-alive-ms')],
    async run(world) {
      const { keepAliveMs = 30_000 } = world.target.durations;
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 50_000 } });
      const withinMs = keepAliveMs * 1.5 + 1000;
      const stream = await opened(world.api, runId, {}, { extraMs: withinMs + 5000 });
      const alive = stream.read(({ comments }) => comments > 0).then(({ comments }) => comments > 0);
      // Closing the stream ends a reading that is still under way.
      const isAlive = await Promise.race([alive.catch(() => false), world.sleep(withinMs).then(() => false)]);
      stream.close();
      holds(isAlive, `a comment on the idle stream within ${withinMs} ms`, 'none', stream.answer);
    },
  },
]);

function poll(api: Api, runId: string, query: CallOptions['query'] = {}): Promise<Answer> {
  return api.get(`/runs/${segment(runId)}/events/poll`, { query: { timeout: 1, ...query }, extraMs: 20_000 });
}

function eventsIn(answer: Answer): readonly RunEvent[] {
  return answer.major === 1 ? body(answer, 200, polled[1]).events : body(answer, 200, polled[2]).events;
}

/** The log of a run that waits, once nothing is added to it. */
async function quietLog(world: World, runId: string): Promise<readonly RunEvent[]> {
  return world.eventually('the log of a waiting run to be quiet', async () => {
    const before = await logOf(world, runId);
    const after = await logOf(world, runId);
    return before.length > 0 && before.length === after.length ? after : undefined;
  });
}

async function opened(
  api: Api,
  runId: string,
  query: CallOptions['query'] = {},
  options: CallOptions = {},
): Promise<EventStream> {
  const stream = await api.stream(`/runs/${segment(runId)}/events`, { ...options, query });
  if ('read' in stream) return stream;
  throw new Mismatch('a stream: status 200 and Content-Type text/event-stream', described(stream), stream);
}

/** A stream, read to its end. */
async function streamed(
  { api }: Pick<World, 'api'>,
  runId: string,
  query: CallOptions['query'] = {},
  options: CallOptions = {},
): Promise<{ readonly stream: EventStream; readonly seen: StreamSeen }> {
  const stream = await opened(api, runId, query, { extraMs: 5000, ...options });
  return { stream, seen: await stream.read() };
}

function types({ frames }: StreamSeen): readonly string[] {
  return frames.map(({ event }) => event);
}

function batchIn({ data }: Frame, answer: Answer): readonly number[] {
  return fits(jsonOf({ text: data }), z.array(z.looseObject({ sequence: z.int() })).min(1), answer).map(
    ({ sequence }) => sequence,
  );
}

/** Of the runs that the suite makes. */
const UPDATES: readonly string[] = [
  'run.started',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'node.completed',
  'node.failed',
];
const NOT_UPDATES: readonly string[] = [
  'node.started',
  'node.retried',
  'variable.',
  'version.',
  'lease.',
  'log.',
  'state.',
];
