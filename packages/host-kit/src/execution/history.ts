import { isJsonObject } from '../json.ts';
import type { Artifact } from '../ports/artifacts.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { OpenRun } from '../runs/event-log.ts';

/**
 * Returns the source of a fork, as far as its log, artifacts and interrupts can be read with it; undefined when the run
 * is no fork.
 */
export function sourceOf(run: Run): Run | undefined {
  return run.fork === undefined ? undefined : { ...run, runId: run.fork.sourceRunId };
}

/** Events of a source, with the artifacts that they name. */
export interface History {
  readonly source: Run;
  readonly events: readonly RunEvent[];
  readonly artifacts: ReadonlyMap<string, Artifact>;
}

/**
 * Reads the artifacts that events name. Call it before the transaction that copies them: inside one, a read through a
 * second connection would wait for itself when the store has only one.
 */
export async function historyOf(store: Store, source: Run, events: readonly RunEvent[]): Promise<History> {
  const artifacts = new Map<string, Artifact>();
  for (const event of events) {
    const artifactId = idIn(event, 'artifact.created', 'artifactId');
    const artifact = artifactId === undefined ? undefined : await store.artifacts.read(source, artifactId);
    if (artifact !== undefined) artifacts.set(artifact.artifactId, artifact);
  }
  return { source, events, artifacts };
}

/** Copies events of the source into the fork, with the artifacts and the answered interrupts that they name. */
export async function takeOver(store: Store, open: OpenRun, { source, events, artifacts }: History): Promise<void> {
  const { run, transaction } = open;
  for (const event of events) {
    open.copy(event);
    const artifact = artifacts.get(idIn(event, 'artifact.created', 'artifactId') ?? '');
    if (artifact !== undefined) await store.artifacts.insert({ ...artifact, runId: run.runId }, transaction);
    const interruptId = idIn(event, 'interrupt.resolved', 'interruptId');
    if (interruptId === undefined) continue;
    const interrupt = await store.interrupts.byId(source.runId, interruptId, transaction);
    if (interrupt !== undefined) await store.interrupts.insert({ ...interrupt, runId: run.runId }, transaction);
  }
}

/** Returns the id `name` in the payload of an event of type `expected`. */
function idIn({ type, payload }: RunEvent, expected: string, name: string): string | undefined {
  const id = type === expected && isJsonObject(payload) ? payload[name] : undefined;
  return typeof id === 'string' ? id : undefined;
}

export interface ForkParts {
  readonly store: Store;
  readonly run: Run;
  /** Changes the fork in a transaction of its own, as its driver. */
  readonly change: <T>(work: (open: OpenRun) => Promise<T>) => Promise<T>;
}

/**
 * Copies the next page of the history with which a fork begins.
 *
 * @param after the sequence of the last event that the fork is known to have
 * @returns whether the history is complete
 */
export async function takeOverHistory({ store, run, change }: ForkParts, after: number): Promise<boolean> {
  const source = sourceOf(run);
  const until = (run.fork?.fromSeq ?? 0) - 1;
  if (source === undefined || after >= until) return true;
  const events = await store.events.list(source, { after, limit: Math.min(until - after, PAGE) });
  const history = await historyOf(store, source, events);
  return await change(async (open) => {
    if (events.length === 0) throw new Error('The log of the source run ends before the fork begins.');
    // An earlier turn may have copied more than this one knows; to copy again would double its events.
    if (open.run.lastSequence === after) await takeOver(store, open, history);
    return open.run.lastSequence >= until;
  });
}

const PAGE = 250;
