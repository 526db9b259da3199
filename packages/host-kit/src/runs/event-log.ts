import { mintId } from '@svc/versioning/ids';
import type { Clock } from '../clock.ts';
import { HostError } from '../errors.ts';
import type { Random } from '../random.ts';
import type { Store } from '../stores/store.ts';
import type { Transaction } from '../transaction.ts';
import type { NewEvent } from './engine.ts';
import type { RunEvent } from './event-store.ts';
import { afterEvent, isTerminal, type Run, type RunChange } from './run.ts';

/** The one way in which an event comes into being. */
export interface EventLog {
  /**
   * Appends to a run's log. When the promise resolves, the event and one delivery for each matching subscription are durable,
   * because they were written in one transaction.
   *
   * @param epoch under which the run is executed; absent: the event is no step of an execution
   * @throws {HostError} `run_terminal` when the run has ended, `not_found` when there is none
   * @throws {RunTakenOver} when another host executes the run by now
   */
  append(runId: string, event: NewEvent, epoch?: number): Promise<RunEvent>;
}

/** Whoever was too slow to keep a run learns by this that it is another's. */
export class RunTakenOver extends Error {
  override readonly name = 'RunTakenOver';
}

export interface EventLogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Writes the deliveries of the event into the same transaction. */
  readonly outbox: (run: Run, event: RunEvent, transaction: Transaction) => Promise<void>;
  /** Told after the commit, so that whoever waits for events can look. */
  readonly appended: (event: RunEvent) => void;
}

export function eventLog(options: EventLogOptions): EventLog {
  const { store, clock, random, outbox, appended } = options;

  return {
    async append(runId, event, epoch) {
      const recorded = await store.transaction(async (transaction) => {
        const run = await openRun(store, runId, transaction);
        if (epoch !== undefined && epoch !== epochOf(run)) throw new RunTakenOver('Another host took the run over.');
        const record = recordOf(run, event);
        const change = afterEvent(run, record);
        await store.events.insert(record, transaction);
        await store.runs.update(runId, change, transaction);
        await outbox(withChange(run, change), record, transaction);
        return record;
      });
      appended(recorded);
      return recorded;
    },
  };

  function recordOf(run: Run, event: NewEvent): RunEvent {
    return {
      eventId: mintId('evt', clock.now, random),
      runId: run.runId,
      sequence: run.lastSequence + 1,
      timestamp: clock.now(),
      schemaVersion: EVENT_SCHEMA_VERSION,
      engineVersion: run.engineVersion,
      ...event,
    };
  }
}

/** The epoch of a run's present execution. */
export function epochOf({ epoch = 0 }: Pick<Run, 'epoch'>): number {
  return epoch;
}

const EVENT_SCHEMA_VERSION = 1;

async function openRun(store: Store, runId: string, transaction: Transaction): Promise<Run> {
  const run = await store.runs.forAppend(runId, transaction);
  if (run === undefined) throw new HostError('not_found', 'There is no such run.', { details: undefined });
  if (isTerminal(run.status)) {
    throw new HostError('run_terminal', 'The run has ended; its log takes no more events.', { details: undefined });
  }
  return run;
}

function withChange(run: Run, change: RunChange): Run {
  return { ...run, ...change };
}
