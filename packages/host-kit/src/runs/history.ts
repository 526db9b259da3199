import { isJsonObject } from '../json.ts';
import type { Store } from '../stores/store.ts';
import type { OpenRun } from './event-log.ts';
import type { RunEvent } from './event-store.ts';
import type { Run } from './run.ts';

/** The source of a fork, as far as its log and what belongs to it can be read. */
export function sourceOf(run: Run): Run | undefined {
  return run.fork === undefined ? undefined : { ...run, runId: run.fork.sourceRunId };
}

/** Takes events of the source over into the fork, with what they tell of: artifacts, and questions that have their answer. */
export async function takeOver(store: Store, open: OpenRun, source: Run, events: readonly RunEvent[]): Promise<void> {
  const { run, transaction } = open;
  for (const event of events) {
    open.copy(event);
    const { artifactId, interruptId } = isJsonObject(event.payload) ? event.payload : {};
    if (event.type === 'artifact.created' && typeof artifactId === 'string') {
      const artifact = await store.artifacts.read(source, artifactId);
      if (artifact !== undefined) await store.artifacts.insert({ ...artifact, runId: run.runId }, transaction);
    }
    if (event.type === 'interrupt.resolved' && typeof interruptId === 'string') {
      const interrupt = await store.interrupts.byId(source.runId, interruptId, transaction);
      if (interrupt !== undefined) await store.interrupts.insert({ ...interrupt, runId: run.runId }, transaction);
    }
  }
}

/**
 * Takes over the next page of the history that a fork begins with.
 *
 * @returns whether that was all of it
 */
export async function takeOverHistory(store: Store, open: OpenRun): Promise<boolean> {
  const { run } = open;
  const source = sourceOf(run);
  const left = (run.fork?.fromSeq ?? 0) - run.lastSequence - 1;
  if (source === undefined || left <= 0) return true;
  const limit = Math.min(left, PAGE);
  const events = await store.events.list(source, { after: run.lastSequence, limit });
  if (events.length === 0) throw new Error('The log of the source run ends before the fork begins.');
  await takeOver(store, open, source, events);
  return left <= events.length;
}

const PAGE = 250;
