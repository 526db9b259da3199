import type { Api } from '../api.ts';
import { body, holds } from '../expect.ts';
import { APPROVAL, CANCELLABLE, CLARIFICATION, DELAY, EXTERNAL_EVENT, NOOP, QUORUM, workflowId } from '../fixtures.ts';
import type { Answer } from '../http/answer.ts';
import { CURSOR, polled, type RunEvent } from '../shapes/event.ts';
import { segment } from '../shapes/id.ts';
import { createdRun, type Snapshot, snapshot, TERMINAL } from '../shapes/run.ts';
import type { World } from '../world.ts';

/** A run that was created. */
export interface Started {
  readonly runId: string;
  readonly answer: Answer;
}

/** Members of a creation besides the workflow. */
export interface RunFields {
  readonly inputs?: object;
  readonly tags?: readonly string[];
  readonly metadata?: object;
}

/** Creates a run with the tag of the check. A run that takes long is cancelled when the check has ended. */
export async function startRun(
  world: World,
  fixture: string,
  { tags = [], ...fields }: RunFields = {},
  api: Api = world.api,
): Promise<Started> {
  const asked = { workflowId: workflowId(world.target, fixture), ...fields, tags: [world.tag, ...tags] };
  const answer = await api.post('/runs', asked);
  const { runId } = body(answer, 201, createdRun[api.major]);
  if (LASTING.includes(fixture)) {
    world.afterwards((after) => after.under(api.major, api.caller).post(`/runs/${segment(runId)}/cancel`, {}));
  }
  return { runId, answer };
}

const LASTING: readonly string[] = [DELAY, CANCELLABLE, APPROVAL, QUORUM, CLARIFICATION, EXTERNAL_EVENT];

/** Reads a run. */
export async function readRun(api: Api, runId: string): Promise<Snapshot> {
  return body(await api.get(`/runs/${segment(runId)}`), 200, snapshot[api.major]);
}

/**
 * Waits until a run has one of the statuses.
 *
 * @throws {Mismatch} when it ends with another status, or does not get there in time
 */
export async function untilStatus(
  world: World,
  runId: string,
  statuses: readonly string[],
  api: Api = world.api,
): Promise<Snapshot> {
  return world.eventually(`the run to be ${statuses.join(' or ')}`, async () => {
    const answer = await api.get(`/runs/${segment(runId)}`);
    const run: Snapshot = body(answer, 200, snapshot[api.major]);
    const isOver = TERMINAL.includes(run.status) && !statuses.includes(run.status);
    holds(!isOver, `the run to become ${statuses.join(' or ')}`, `"${run.status}"`, answer);
    return statuses.includes(run.status) ? run : undefined;
  });
}

/** Creates a run and waits for its end. */
export async function endedRun(
  world: World,
  fixture: string = NOOP,
  fields: RunFields = {},
  api: Api = world.api,
): Promise<Snapshot> {
  const { runId } = await startRun(world, fixture, fields, api);
  return untilStatus(world, runId, TERMINAL, api);
}

/** Reads the log of a run by polls: all of it for a run that has ended, the events so far for another. */
export async function logOf(world: World, runId: string, api: Api = world.api): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const last = events.at(-1);
    const query = { timeout: 1, ...(last !== undefined && { [CURSOR[api.major]]: last.sequence }) };
    const answer = await api.get(`/runs/${segment(runId)}/events/poll`, { query, extraMs: 1000 });
    const isNew = await take(api, answer, events);
    if (!isNew) return events;
  }
  return events;
}

const MOST_PAGES = 50;

/** Appends the events of a page. Returns true when there may be more. */
async function take(api: Api, answer: Answer, events: RunEvent[]): Promise<boolean> {
  if (api.major === 1) {
    const page = body(answer, 200, polled[1]);
    events.push(...page.events);
    return page.events.length > 0 && !page.isComplete;
  }
  const page = body(answer, 200, polled[2]);
  events.push(...page.events);
  return page.events.length > 0 && !(page.isTerminal && page.events.at(-1)?.sequence === page.lastSequence);
}

/** Returns the first event of a type. */
export function eventOf(events: readonly RunEvent[], type: string): RunEvent {
  const found = events.find((event) => event.type === type);
  holds(found !== undefined, `an event ${type} in the log`, events.map((event) => event.type).join(', '));
  return found;
}
