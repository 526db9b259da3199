import { area, type RunnableCheck } from '../../check.ts';
import { anObject, fits, holds, same, shown } from '../../expect.ts';
import { FAILURE, workflowId as idOf, NOOP } from '../../fixtures.ts';
import { fixture, overlap, scopes } from '../../needs.ts';
import type { RunEvent } from '../../shapes/event.ts';
import { bareId } from '../../shapes/id.ts';
import { TERMINAL_EVENTS } from '../../shapes/run.ts';
import { endedRun, logOf } from '../../steps/runs.ts';

const SHAPE = 'Events';

/** The log of a run: its events and their order. */
export const eventLog: readonly RunnableCheck[] = area('events', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'envelope',
    name: 'Every event has the required members, an integer `engineVersion` and an `eventId` of its own.',
    rule: [SHAPE, 'events.shape.fields'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      for (const one of log) same(one.runId, runId, 'runId of every event');
      holds(
        new Set(log.map(({ eventId }) => eventId)).size === log.length,
        'a unique eventId for each event',
        shown(log),
      );
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
        'sequences that begin at 0 and increase',
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
      same(fits(started?.payload, anObject).workflowId, idOf(world.target, NOOP), 'workflowId in run.started');
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
]);
