import { mintId } from '@svc/versioning/ids';
import type { Clock } from '../clock.ts';
import { HostError } from '../errors.ts';
import type { Random } from '../random.ts';
import type { Store } from '../stores/store.ts';
import type { Transaction } from '../transaction.ts';
import { afterEvent, afterHistory } from './after-event.ts';
import type { NewEvent } from './engine.ts';
import type { RunEvent } from './event-store.ts';
import { pausedEvent } from './host-events.ts';
import type { Run } from './run.ts';
import { isTerminal, type RunSignal, statusAfter } from './transitions.ts';

/** The one way in which an event comes into being. */
export interface EventLog {
  /**
   * Appends to a run's log. When the promise resolves, the event and one delivery for each matching subscription are durable,
   * because they were written in one transaction.
   *
   * @param epoch under which the run is executed; absent: the event is no step of an execution
   * @throws {HostError} `run_terminal` when the run has ended, `run_state_conflict` when the event is not to be had in its status,
   * `not_found` when there is none
   * @throws {RunTakenOver} when another host executes the run by now
   */
  append(runId: string, event: NewEvent, epoch?: number): Promise<RunEvent>;
}

/** Whoever was too slow to keep a run learns by this that it is another's. */
export class RunTakenOver extends Error {
  override readonly name = 'RunTakenOver';
}

/** What the kit itself does with runs and their logs. */
export interface RunLog extends EventLog {
  /**
   * Opens a run in a transaction, lets `work` do with it what belongs together, and makes that durable.
   *
   * @param find the run as it stands in the transaction, locked
   */
  change<T>(find: (transaction: Transaction) => Promise<Run>, work: (open: OpenRun) => Promise<T>): Promise<T>;
  /**
   * Finds a run for the host itself, not for a caller.
   *
   * @param epoch as for `append`
   */
  hosted(runId: string, epoch?: number): (transaction: Transaction) => Promise<Run>;
}

/** A run inside of a transaction. */
export interface OpenRun {
  /** As it stands after all that was done to it here. */
  readonly run: Run;
  readonly transaction: Transaction;
  /**
   * Appends events in their order, up to one that brings a pause that was asked for: what would follow it has not happened.
   *
   * @returns those that were appended
   * @throws {HostError} `run_terminal`, `run_state_conflict`
   */
  append(...events: readonly NewEvent[]): Promise<readonly RunEvent[]>;
  /** Takes over an event of another run's log as history: nothing moves by it, and nobody is delivered it. */
  copy(event: RunEvent): Promise<void>;
  /** Replaces what is stored beside the log. */
  set(run: Run): void;
  /**
   * Moves the run by what is no event.
   *
   * @throws {HostError} `run_terminal`, `run_state_conflict`
   */
  signal(signal: RunSignal, stored: Partial<Run>): void;
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

export function eventLog(options: EventLogOptions): RunLog {
  const { store, clock, random, outbox, appended } = options;

  const hosted: RunLog['hosted'] = (runId, epoch) => async (transaction) => {
    const run = await store.runs.forAppend(runId, transaction);
    if (run === undefined) throw new HostError('not_found', 'There is no such run.', { details: undefined });
    if (epoch !== undefined && epoch !== epochOf(run)) throw new RunTakenOver('Another host took the run over.');
    return run;
  };

  return {
    append: (runId, event, epoch) =>
      change(hosted(runId, epoch), async (open) => {
        const [recorded] = await open.append(event);
        if (recorded === undefined) throw refusal(open.run, event.type);
        return recorded;
      }),
    change,
    hosted,
  };

  async function change<T>(
    find: (transaction: Transaction) => Promise<Run>,
    work: (open: OpenRun) => Promise<T>,
  ): Promise<T> {
    const { result, events } = await store.transaction(async (transaction) => {
      const found = await find(transaction);
      const open = openRun(found, transaction);
      const result = await work(open);
      if (open.run !== found) await store.runs.update(open.run, transaction);
      return { result, events: open.events };
    });
    for (const event of events) appended(event);
    return result;
  }

  function openRun(found: Run, transaction: Transaction): OpenRun & { readonly events: readonly RunEvent[] } {
    let run = found;
    const events: RunEvent[] = [];
    return {
      get run() {
        return run;
      },
      transaction,
      events,
      async append(...added) {
        const recorded: RunEvent[] = [];
        for (const event of added) {
          recorded.push(await record(event));
          if (!isDrained(run)) continue;
          await record(pausedEvent(run));
          break;
        }
        return recorded;
      },
      async copy(event) {
        const eventId = mintId('evt', clock.now, random);
        const copied = { ...event, eventId, runId: run.runId, sequence: run.lastSequence + 1 };
        await store.events.insert(copied, transaction);
        run = afterHistory(run, copied);
        events.push(copied);
      },
      set(changed) {
        run = changed;
      },
      signal(signal, stored) {
        const status = statusAfter(run.status, signal);
        if (status === undefined) throw refusal(run, signal);
        run = { ...run, ...stored, status };
      },
    };

    async function record(event: NewEvent): Promise<RunEvent> {
      const recorded = recordOf(run, event);
      const next = afterEvent(run, recorded);
      if (next === undefined) throw refusal(run, event.type);
      await store.events.insert(recorded, transaction);
      await outbox(next, recorded, transaction);
      if (isTerminal(next.status) && run.currentNodeId !== undefined) await closeQuestions(run, transaction);
      run = next;
      events.push(recorded);
      return recorded;
    }
  }

  /** Nobody waits for an answer any more. */
  async function closeQuestions({ runId }: Run, transaction: Transaction): Promise<void> {
    for (const { dueAt: _dueAt, ...interrupt } of await store.interrupts.pendingOf(runId, transaction)) {
      await store.interrupts.update({ ...interrupt, status: 'closed' }, transaction);
    }
  }

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

/** A pause that was asked for comes as soon as nothing is under way, in the transaction of what ended last. */
function isDrained({ status, pauseRequest, openNodes }: Run): boolean {
  return status === 'running' && pauseRequest !== undefined && openNodes === undefined;
}

function refusal({ status }: Run, what: string): HostError {
  if (isTerminal(status)) {
    return new HostError('run_terminal', 'The run has ended; its log takes no more events.', {
      details: { runStatus: status },
    });
  }
  return new HostError('run_state_conflict', `${what} is not to be had while the run is ${status}.`, {
    details: { runStatus: status },
  });
}
