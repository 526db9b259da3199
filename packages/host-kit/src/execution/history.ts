import { isJsonObject } from '../json.ts';
import type { Artifact } from '../ports/artifacts.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { OpenRun } from '../runs/event-log.ts';

/** The source of a fork, as far as its log and what belongs to it can be read. */
export function sourceOf(run: Run): Run | undefined {
  return run.fork === undefined ? undefined : { ...run, runId: run.fork.sourceRunId };
}

/** Events of a source, with the artifacts that they tell of. */
export interface History {
  readonly source: Run;
  readonly events: readonly RunEvent[];
  readonly artifacts: ReadonlyMap<string, Artifact>;
}

/** Looks for what events tell of, before the transaction that takes them over: in one, nothing is asked but the transaction. */
export async function historyOf(store: Store, source: Run, events: readonly RunEvent[]): Promise<History> {
  const artifacts = new Map<string, Artifact>();
  for (const event of events) {
    const artifactId = toldBy(event, 'artifact.created', 'artifactId');
    const artifact = artifactId === undefined ? undefined : await store.artifacts.read(source, artifactId);
    if (artifact !== undefined) artifacts.set(artifact.artifactId, artifact);
  }
  return { source, events, artifacts };
}

/** Takes events of the source over into the fork, with what they tell of: artifacts, and questions that have their answer. */
export async function takeOver(store: Store, open: OpenRun, { source, events, artifacts }: History): Promise<void> {
  const { run, transaction } = open;
  for (const event of events) {
    open.copy(event);
    const artifact = artifacts.get(toldBy(event, 'artifact.created', 'artifactId') ?? '');
    if (artifact !== undefined) await store.artifacts.insert({ ...artifact, runId: run.runId }, transaction);
    const interruptId = toldBy(event, 'interrupt.resolved', 'interruptId');
    if (interruptId === undefined) continue;
    const interrupt = await store.interrupts.byId(source.runId, interruptId, transaction);
    if (interrupt !== undefined) await store.interrupts.insert({ ...interrupt, runId: run.runId }, transaction);
  }
}

function toldBy({ type, payload }: RunEvent, told: string, name: string): string | undefined {
  const id = type === told && isJsonObject(payload) ? payload[name] : undefined;
  return typeof id === 'string' ? id : undefined;
}

export interface ForkParts {
  readonly store: Store;
  readonly run: Run;
  readonly inTurn: <T>(work: (open: OpenRun) => Promise<T>) => Promise<T>;
}

/**
 * Takes over the next page of the history that a fork begins with.
 *
 * @param after the last event that the fork is known to have
 * @returns whether that was all of it
 */
export async function takeOverHistory({ store, run, inTurn }: ForkParts, after: number): Promise<boolean> {
  const source = sourceOf(run);
  const until = (run.fork?.fromSeq ?? 0) - 1;
  if (source === undefined || after >= until) return true;
  const events = await store.events.list(source, { after, limit: Math.min(until - after, PAGE) });
  const history = await historyOf(store, source, events);
  return await inTurn(async (open) => {
    if (events.length === 0) throw new Error('The log of the source run ends before the fork begins.');
    // An earlier turn may have come further than this one has heard.
    if (open.run.lastSequence === after) await takeOver(store, open, history);
    return open.run.lastSequence >= until;
  });
}

const PAGE = 250;
