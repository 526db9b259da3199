import { z } from 'zod';
import { area, type RunnableCheck } from '../../check.ts';
import { body, fits, holds, refused, same } from '../../expect.ts';
import { NOOP } from '../../fixtures.ts';
import { type Answer, jsonOf } from '../../http/answer.ts';
import { Mismatch } from '../../mismatch.ts';
import { fixture, key, mount, scopes } from '../../needs.ts';
import { event as runEvent } from '../../shapes/event.ts';
import { endedRun, logOf } from '../../steps/runs.ts';
import { mountPath } from '../../target.ts';
import type { World } from '../../world.ts';

const RULE = { section: 'Versioning: Paths, 3', source: 'own' } as const;

/** The events of all runs, under `/host/<org>/events`. */
export const allRuns: readonly RunnableCheck[] = area(
  'all-runs',
  { needs: [mount('events'), scopes('runs:create', 'runs:read'), fixture(NOOP)] },
  [
    {
      id: 'polled',
      name: 'A poll of all runs returns every event of a run once and in order, and goes on from its cursor.',
      rule: RULE,
      async run(world) {
        const cursor = await newestCursor(world);
        const { runId } = await endedRun(world);
        const log = await logOf(world, runId);
        const polled = await polledUntil(world, cursor, (events) => ofRun(events, runId).length >= log.length);
        same(ofRun(polled, runId), sequencesOf(log), 'the sequences of the run');
      },
    },
    {
      id: 'streamed',
      name: 'A stream of all runs sends the events of a run with their types, and resumes after each `id`.',
      rule: RULE,
      async run(world) {
        const cursor = await newestCursor(world);
        const { runId } = await endedRun(world);
        const log = await logOf(world, runId);
        const { frames, answer } = await streamedAfter(world, cursor, runId, log.length);
        for (const { event, one } of frames) same(event, one.type, 'the name of the frame', answer);
        same(sequencesOf(frames.map(({ one }) => one)), sequencesOf(log), 'the sequences of the run', answer);
        const [first] = frames;
        holds(first?.id !== undefined, 'a frame with an id', first, answer);
        const rest = await streamedAfter(world, first?.id ?? '', runId, log.length - 1);
        same(
          sequencesOf(rest.frames.map(({ one }) => one)),
          sequencesOf(log).slice(1),
          'the sequences after the first frame',
          rest.answer,
        );
      },
    },
    {
      id: 'filtered',
      name: 'A poll of all runs with `types` returns events of these types alone; an unknown type is answered 400.',
      rule: RULE,
      async run(world) {
        const cursor = await newestCursor(world);
        const { runId } = await endedRun(world);
        const types = 'run.completed';
        const polled = await polledUntil(world, cursor, (events) => ofRun(events, runId).length > 0, { types });
        same([...new Set(polled.map(({ type }) => type))], [types], 'the types');
        refused(
          await world.api.get(pathOf(world, '/poll'), { query: { types: 'no.such.type' } }),
          400,
          'validation_error',
        );
      },
    },
    {
      id: 'kept-apart',
      name: 'Events of a run are never sent to a caller of another tenant.',
      rule: ['Authorization rules', 'auth.tenancy.tenant-apart'],
      needs: [key('otherTenant')],
      async run(world) {
        const stranger = world.as('otherTenant');
        const answer = await stranger.get(pathOf(world, '/poll'), { query: { from: 'now', timeout: 1 } });
        const { cursor } = body(answer, 200, PAGE);
        const { runId } = await endedRun(world);
        const polled = await stranger.get(pathOf(world, '/poll'), { query: { after: cursor, timeout: 1 } });
        const { events } = body(polled, 200, PAGE);
        same(ofRun(eventsOf(world, events, polled), runId), [], 'the events of the run', polled);
      },
    },
    {
      id: 'cursor-400',
      name: 'A cursor that is not of the host is answered 400.',
      rule: RULE,
      async run(world) {
        const path = pathOf(world, '/poll');
        for (const after of ['conformance', '-1', '9000000000000000-0'])
          refused(await world.api.get(path, { query: { after } }), 400, 'validation_error');
      },
    },
  ],
);

const PAGE = z.looseObject({ events: z.array(z.unknown()), cursor: z.string() });

type SeenEvent = ReturnType<typeof eventsOf>[number];

function pathOf({ target, major }: World, path = ''): string {
  return `${mountPath(target, major, 'events')}${path}`;
}

async function newestCursor(world: World): Promise<string> {
  const answer = await world.api.get(pathOf(world, '/poll'), { query: { from: 'now', timeout: 1 } });
  return body(answer, 200, PAGE).cursor;
}

async function polledUntil(
  world: World,
  from: string,
  isEnough: (events: readonly SeenEvent[]) => boolean,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly SeenEvent[]> {
  const found: SeenEvent[] = [];
  for (let after = from, polls = 0; polls < MOST_POLLS; polls += 1) {
    const answer = await world.api.get(pathOf(world, '/poll'), {
      query: { ...query, after, timeout: 5 },
      extraMs: 5000,
    });
    const page = body(answer, 200, PAGE);
    found.push(...eventsOf(world, page.events, answer));
    if (isEnough(found)) return found;
    after = page.cursor;
  }
  throw new Mismatch('the events of the run', `${found.length} events in ${MOST_POLLS} polls`);
}

const MOST_POLLS = 20;

async function streamedAfter(world: World, cursor: string, runId: string, count: number) {
  const stream = await world.api.stream(pathOf(world), { headers: { 'Last-Event-ID': cursor } });
  if (!('read' in stream)) throw new Mismatch('an event stream', `status ${stream.status}`, stream);
  const { answer } = stream;
  try {
    const of = (data: string) => fits(jsonOf({ text: data }), runEvent[world.major], answer);
    const isOfRun = (data: string) => of(data).runId === runId;
    const seen = await stream.read(({ frames }) => frames.filter(({ data }) => isOfRun(data)).length >= count);
    const frames = seen.frames.flatMap(({ id, event, data }) => (isOfRun(data) ? [{ id, event, one: of(data) }] : []));
    return { frames, answer };
  } finally {
    stream.close();
  }
}

function eventsOf({ major }: World, events: readonly unknown[], answer: Answer) {
  return events.map((event) => fits(event, runEvent[major], answer));
}

function ofRun(events: readonly SeenEvent[], runId: string): readonly number[] {
  return sequencesOf(events.filter((event) => event.runId === runId));
}

function sequencesOf(events: readonly { readonly sequence: number }[]): readonly number[] {
  return events.map(({ sequence }) => sequence);
}
