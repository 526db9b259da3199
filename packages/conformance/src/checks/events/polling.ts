import type { Api, CallOptions } from '../../api.ts';
import { area, type RunnableCheck } from '../../check.ts';
import { body, holds, refused, same } from '../../expect.ts';
import { CANCELLABLE, NOOP } from '../../fixtures.ts';
import { type Answer, described } from '../../http/answer.ts';
import { fixture, scopes } from '../../needs.ts';
import { CURSOR, polled, type RunEvent } from '../../shapes/event.ts';
import { segment } from '../../shapes/id.ts';
import { endedRun, logOf, startRun, untilStatus } from '../../steps/runs.ts';
import type { World } from '../../world.ts';

const POLL = 'Endpoints: event poll';

/** Polls of the log. */
export const polling: readonly RunnableCheck[] = area('events', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'poll-page',
    name: 'A poll is answered with a page of events in the form of the major, which says whether the run has ended.',
    rule: [POLL, 'events.poll.body'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId, status } = await endedRun(world);
      const answer = await poll(world.api, runId);
      if (world.major === 1) {
        holds(body(answer, 200, polled[1]).isComplete, 'isComplete to be true', described(answer), answer);
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
    rule: [POLL, 'events.poll.cursor'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const log = await logOf(world, runId);
      holds(log.length >= 2, 'at least two events in the log', log.length);
      const answer = await poll(world.api, runId, { [CURSOR[world.major]]: 0 });
      same(
        eventsIn(answer).map(({ sequence }) => sequence),
        log.slice(1).map(({ sequence }) => sequence),
        'the sequences after 0',
        answer,
      );
    },
  },
  {
    id: 'poll-past-end',
    name: 'A poll with a cursor after the last event of a run that has ended is answered 200 at once, without events.',
    rule: [POLL, 'events.poll.cursor'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      const answer = await poll(world.api, runId, { [CURSOR[world.major]]: 1_000_000, timeout: 8 });
      same(eventsIn(answer), [], 'the events', answer);
      holds(
        answer.durationMs < 4000,
        'a response within 4 s, as the run has ended',
        `${Math.round(answer.durationMs)} ms`,
        answer,
      );
    },
  },
  {
    id: 'poll-bad-cursor-400',
    name: 'A poll with a cursor that is not a whole number is answered 400 `validation_error`.',
    rule: [POLL, 'events.poll.cursor'],
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
    rule: [POLL, 'events.poll.wait'],
    needs: [fixture(CANCELLABLE), scopes('runs:cancel')],
    async run(world) {
      const { api, major } = world;
      const { runId } = await startRun(world, CANCELLABLE, { inputs: { delayMs: 50_000 } });
      await untilStatus(world, runId, ['running']);
      const last = (await quietLog(world, runId)).at(-1);
      const cursor = { [CURSOR[major]]: last?.sequence ?? 0 };
      const waited = await poll(api, runId, { ...cursor, timeout: 1 });
      same(eventsIn(waited), [], 'the events while nothing happens', waited);
      holds(waited.durationMs >= 800, 'a response after about 1 s', `${Math.round(waited.durationMs)} ms`, waited);
      const waking = poll(api, runId, { ...cursor, timeout: 20 });
      await world.sleep(300);
      await api.post(`/runs/${segment(runId)}/cancel`, {});
      const woken = await waking;
      holds(eventsIn(woken).length > 0, 'the event that occurred', described(woken), woken);
      holds(
        woken.durationMs < 15_000,
        'a response when the event occurs, before the timeout',
        `${Math.round(woken.durationMs)} ms`,
        woken,
      );
    },
  },
]);

function poll(api: Api, runId: string, query: CallOptions['query'] = {}): Promise<Answer> {
  return api.get(`/runs/${segment(runId)}/events/poll`, { query: { timeout: 1, ...query }, extraMs: 20_000 });
}

function eventsIn(answer: Answer): readonly RunEvent[] {
  return answer.major === 1 ? body(answer, 200, polled[1]).events : body(answer, 200, polled[2]).events;
}

/** Reads the log of a waiting run when it has stopped growing. */
async function quietLog(world: World, runId: string): Promise<readonly RunEvent[]> {
  return world.eventually('the log of a waiting run to stop growing', async () => {
    const before = await logOf(world, runId);
    const after = await logOf(world, runId);
    return before.length > 0 && before.length === after.length ? after : undefined;
  });
}
