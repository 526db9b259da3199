import { z } from 'zod';
import type { Api, CallOptions } from '../../api.ts';
import { area, type RunnableCheck } from '../../check.ts';
import type { EventStream, StreamSeen } from '../../event-stream.ts';
import { body, fits, header, holds, refused, same } from '../../expect.ts';
import { CANCELLABLE, FAILURE, NOOP } from '../../fixtures.ts';
import { type Answer, described, jsonOf } from '../../http/answer.ts';
import type { Frame } from '../../http/frames.ts';
import { Mismatch } from '../../mismatch.ts';
import { fixture, scopes, shortened } from '../../needs.ts';
import { event as runEvent } from '../../shapes/event.ts';
import { segment, unknownId } from '../../shapes/id.ts';
import { snapshot, TERMINAL_EVENTS } from '../../shapes/run.ts';
import { endedRun, logOf, startRun } from '../../steps/runs.ts';
import type { World } from '../../world.ts';

const STREAM = 'Endpoints: event stream';

/** Event streams of runs. */
export const streaming: readonly RunnableCheck[] = area('events', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'stream-frames',
    name: 'Frames of a `text/event-stream` have the sequence as `id`, the type as `event` and the event as `data`.',
    rule: [STREAM, 'events.stream.frames'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const { stream, seen } = await streamed(world, runId, { streamMode: 'debug' });
      header(stream.answer, 'SVC-Version', new RegExp(`^${world.major}\\.`));
      holds(seen.frames.length > 0, 'at least one frame', 'none', stream.answer);
      for (const frame of seen.frames) {
        const one = fits(jsonOf({ text: frame.data }), runEvent[world.major], stream.answer);
        same([frame.id, frame.event], [String(one.sequence), one.type], 'id and event of the frame', stream.answer);
      }
    },
  },
  {
    id: 'stream-ends',
    name: 'A stream is closed after the terminal event, also when it is opened after the run has ended.',
    rule: [STREAM, 'events.stream.ends-with-run'],
    needs: [fixture(NOOP), fixture(FAILURE)],
    async run(world) {
      for (const workflowId of [NOOP, FAILURE]) {
        const { runId } = await endedRun(world, workflowId);
        const { stream, seen } = await streamed(world, runId);
        const last = seen.frames.at(-1)?.event ?? 'nothing';
        holds(
          seen.ended && TERMINAL_EVENTS.includes(last),
          'a terminal event, then the end of the stream',
          last,
          stream.answer,
        );
      }
    },
  },
  {
    id: 'stream-live',
    name: 'An open stream sends an event when it occurs.',
    rule: [STREAM, 'events.stream.frames'],
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
    rule: [STREAM, 'events.stream.modes'],
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
    rule: [STREAM, 'events.stream.modes'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const [plain, updates] = [await streamed(world, runId), await streamed(world, runId, { streamMode: 'updates' })];
      same(types(plain.seen), types(updates.seen), 'the frames without a mode', plain.stream.answer);
      const inner = types(updates.seen).filter((type) => NOT_UPDATES.some((other) => type.startsWith(other)));
      same(inner, [], 'the frames that are not updates', updates.stream.answer);
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
    name: 'A stream in mode `values` sends snapshots of the run, the last one with the final status and variables.',
    rule: [STREAM, 'events.stream.values'],
    needs: [fixture(NOOP)],
    async run(world) {
      const run = await endedRun(world);
      const { stream, seen } = await streamed(world, run.runId, { streamMode: 'values' });
      same([...new Set(types(seen))], ['state.snapshot'], 'the names of the frames', stream.answer);
      const read = seen.frames.map(({ data }) => fits(jsonOf({ text: data }), snapshot[world.major], stream.answer));
      same([read.at(-1)?.runId, read.at(-1)?.status], [run.runId, run.status], 'the last snapshot', stream.answer);
      const { variables } = body(await world.api.get(`/runs/${segment(run.runId)}`), 200, WITH_VALUES);
      const last = fits(jsonOf({ text: seen.frames.at(-1)?.data ?? '' }), WITH_VALUES, stream.answer);
      same(last.variables, variables, 'the variables of the last snapshot', stream.answer);
    },
  },
  {
    id: 'stream-messages',
    name: 'A stream in mode `messages` sends only message chunks, and is closed when the run ends.',
    rule: [STREAM, 'events.stream.modes'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const { stream, seen } = await streamed(world, runId, { streamMode: 'messages' });
      same(
        types(seen).filter((type) => type !== 'ai.message.chunk'),
        [],
        'the frames that are not message chunks',
        stream.answer,
      );
      holds(seen.ended, 'the end of the stream', 'an open stream', stream.answer);
    },
  },
  {
    id: 'stream-mode-400',
    name: 'An unknown mode, or `values` joined with another mode, is answered 400 with the list of modes.',
    rule: [STREAM, 'events.stream.unsupported-mode'],
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
            'single modes in details.supported, updates among them',
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
    rule: [STREAM, 'events.stream.resume'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const whole = await streamed(world, runId, { streamMode: 'debug' });
      const ids = whole.seen.frames.map(({ id }) => id);
      holds(ids.length >= 2, 'at least two frames', ids, whole.stream.answer);
      const headers = { 'Last-Event-ID': ids[0] ?? '' };
      const rest = await streamed(world, runId, { streamMode: 'debug' }, { headers });
      same(
        rest.seen.frames.map(({ id }) => id),
        ids.slice(1),
        'the ids after the first',
        rest.stream.answer,
      );
    },
  },
  {
    id: 'stream-values-resumes',
    name: 'A resumed stream in mode `values` begins with a snapshot.',
    rule: [STREAM, 'events.stream.resume'],
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
    rule: [STREAM, 'events.stream.batches'],
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
    rule: [STREAM, 'events.stream.headers'],
    async run({ api, major, target }) {
      const run = `/runs/${segment(unknownId(major, target.tenant))}`;
      for (const path of [`${run}/events`, `${run}/events/poll`]) refused(await api.get(path), 404, 'not_found');
    },
  },
  {
    id: 'stream-keep-alive',
    name: 'An idle stream sends a comment at least every 30 seconds.',
    rule: [STREAM, 'events.stream.keep-alive'],
    needs: [fixture(CANCELLABLE), shortened('keepAliveMs', 'keep-alive-ms')],
    async run(world) {
      const { keepAliveMs = 30_000 } = world.target.durations;
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 50_000 } });
      const withinMs = keepAliveMs * 1.5 + 1000;
      const stream = await opened(world.api, runId, {}, { extraMs: withinMs + 5000 });
      const alive = stream.read(({ comments }) => comments > 0).then(({ comments }) => comments > 0);
      // Closing the stream ends a read that is in progress.
      const isAlive = await Promise.race([alive.catch(() => false), world.sleep(withinMs).then(() => false)]);

      stream.close();
      holds(isAlive, `a comment on the idle stream within ${withinMs} ms`, 'no comment', stream.answer);
    },
  },
]);

const WITH_VALUES = z.looseObject({ variables: z.unknown().optional() });

/** @throws {Mismatch} when the answer is not a stream */
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

/** Opens a stream and reads it to its end. */
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

/** Types of a fixture run that are in the mode `updates`. */
const UPDATES: readonly string[] = [
  'run.started',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'node.completed',
  'node.failed',
];
/** Types, or beginnings of types, that are not in the mode `updates`. */
const NOT_UPDATES: readonly string[] = [
  'node.started',
  'node.retried',
  'variable.',
  'version.',
  'lease.',
  'log.',
  'state.',
];
