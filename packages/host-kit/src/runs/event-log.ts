import { HostError } from '../errors.ts';
import { judged } from '../events/gate.ts';
import { groupCommit } from '../group-commit.ts';
import type { NewEvent } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import { draftOf, type OwnDraft, type RunDraft, refusal } from './run-draft.ts';
import { DraftWriter, type Outbox } from './write-drafts.ts';

/** Appends events to the logs of runs. No other part of the host writes events. */
export interface EventLog {
  /**
   * Appends to a run's log. When the promise resolves, the event and one delivery for each matching subscription are
   * durable, because they were written in one transaction.
   *
   * @param epoch the epoch of the execution that appends; absent: the event is not part of an execution
   * @throws {TypeError} for an event that the vocabulary does not have, or whose payload breaks a rule of its type
   * @throws {HostError} `run_terminal` when the run has ended, `run_state_conflict` when its status does not accept the
   * event, `not_found` when the run does not exist
   * @throws {RunTakenOver} when another host executes the run
   */
  append(runId: string, event: NewEvent, epoch?: number): Promise<RunEvent>;
}

/** Thrown to a host whose execution of a run was taken over by another host. */
export class RunTakenOver extends Error {
  override readonly name = 'RunTakenOver';
}

/** The event log with the operations that only the kit itself uses. */
export interface RunLog extends EventLog {
  /**
   * Opens a run for the host itself, and makes the changes of `work` durable as one. Other steps share the transaction,
   * so `work` must await nothing but operations on the run.
   *
   * @param epoch as for `append`
   */
  step<T>(runId: string, epoch: number | undefined, work: (run: RunDraft) => Promise<T>): Promise<T>;
  /**
   * Like `step`, in a transaction of its own, in which `work` may also write to the store.
   *
   * @param find reads the run in the transaction, and locks it
   */
  change<T>(find: (transaction: Transaction) => Promise<Run>, work: (open: OpenRun) => Promise<T>): Promise<T>;
  /**
   * Returns a `find` for `change` that reads a run for the host itself, not for a caller.
   *
   * @param epoch as for `append`
   */
  hosted(runId: string, epoch?: number): (transaction: Transaction) => Promise<Run>;
}

/** A run inside of a transaction. */
export interface OpenRun extends Pick<OwnDraft, 'run' | 'append' | 'copy' | 'set' | 'signal'> {
  readonly transaction: Transaction;
}

export interface EventLogOptions extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly outbox: Outbox;
  /** True: a run gets the revision of its workspace's files when it starts. Default false. */
  readonly servesFiles?: boolean;
  /** Called when a transaction has ended. Default: nothing is called. */
  readonly transactions?: {
    /** The transaction is durable. Called before `appended`. */
    committed(transaction: Transaction): void;
    /** The transaction has failed, perhaps after its commit. */
    failed(transaction: Transaction): void;
  };
  /** Called for each event after its commit, in order. */
  readonly appended: (event: RunEvent) => void;
}

/** Opens the event log of a store. Concurrent steps share transactions. */
export function eventLog(options: EventLogOptions): RunLog {
  const { store, appended } = options;
  const transaction = announced(options);
  const writer = new DraftWriter(options);
  const takeStep = groupCommit<Step, readonly RunEvent[]>({
    transaction,
    work: (steps, opened) => takeSteps(options, writer, steps, opened),
    keyOf: ({ runId }) => runId,
    largest: () => writer.mostSteps,
  });

  const log: RunLog = {
    append: async (runId, given, epoch) => {
      const event = judged(given);
      return log.step(runId, epoch, async (draft) => {
        const [recorded] = await draft.append(event);
        if (recorded === undefined) throw refusal(draft.run, event.type);
        return recorded;
      });
    },
    async step<T>(runId: string, epoch: number | undefined, work: (draft: RunDraft) => Promise<T>): Promise<T> {
      const done: T[] = [];
      const take = async (draft: RunDraft): Promise<void> => {
        done[0] = await work(draft);
      };
      const events = await takeStep({ runId, epoch, take });
      for (const event of events) appended(event);
      if (!(0 in done)) throw new Error('A step was not taken.');
      return done[0];
    },
    async change(find, work) {
      const { result, events } = await transaction(async (opened) => {
        const draft = draftOf(await find(opened), options);
        const result = await work(openRun(draft, opened));
        await writer.write([draft], opened);
        return { result, events: draft.recorded };
      });
      for (const event of events) appended(event);
      return result;
    },
    hosted: (runId, epoch) => async (transaction) => {
      const [run] = await store.runs.forAppend([runId], transaction);
      return requireOwnEpoch(run, epoch);
    },
  };
  return log;
}

/** Returns the transactions of the store, the ends of which are announced. */
function announced({ store, transactions }: EventLogOptions): Store['transaction'] {
  if (transactions === undefined) return store.transaction;
  return async (work) => {
    let latest: Transaction | undefined;
    const ended = store.transaction((transaction) => {
      latest = transaction;
      return work(transaction);
    });
    const result = await ended.catch((error: unknown) => {
      if (latest !== undefined) transactions.failed(latest);
      throw error;
    });
    if (latest !== undefined) transactions.committed(latest);
    return result;
  };
}

function openRun(draft: OwnDraft, transaction: Transaction): OpenRun {
  return {
    get run() {
      return draft.run;
    },
    append: (...events) => draft.append(...events),
    copy: (event) => draft.copy(event),
    set: (run) => draft.set(run),
    signal: (signal, stored) => draft.signal(signal, stored),
    transaction,
  };
}

interface Step {
  readonly runId: string;
  readonly epoch: number | undefined;
  readonly take: (draft: RunDraft) => Promise<void>;
}

async function takeSteps(
  options: EventLogOptions,
  writer: DraftWriter,
  steps: readonly Step[],
  transaction: Transaction,
): Promise<readonly PromiseSettledResult<readonly RunEvent[]>[]> {
  const runs = await options.store.runs.forAppend([...new Set(steps.map(({ runId }) => runId))], transaction);
  const drafts = new Map(runs.map((run) => [run.runId, draftOf(run, options)]));
  const outcomes: PromiseSettledResult<readonly RunEvent[]>[] = [];
  // In sequence, because several steps may belong to one run.
  for (const step of steps) outcomes.push(await outcomeOf(step, drafts.get(step.runId)));
  await writer.write([...drafts.values()], transaction);
  return outcomes;
}

async function outcomeOf(
  { epoch, take }: Step,
  draft: OwnDraft | undefined,
): Promise<PromiseSettledResult<readonly RunEvent[]>> {
  const undo = draft?.savepoint();
  try {
    if (draft === undefined) throw noSuchRun();
    requireOwnEpoch(draft.run, epoch);
    const from = draft.recorded.length;
    await take(draft);
    return { status: 'fulfilled', value: draft.recorded.slice(from) };
  } catch (reason) {
    undo?.();
    return { status: 'rejected', reason };
  }
}

/** @param epoch the epoch of the execution that asks; undefined: none */
function requireOwnEpoch(run: Run | undefined, epoch: number | undefined): Run {
  if (run === undefined) throw noSuchRun();
  if (epoch !== undefined && epoch !== epochOf(run)) throw new RunTakenOver('Another host took the run over.');
  return run;
}

function noSuchRun(): HostError {
  return new HostError('not_found', 'There is no such run.', { details: undefined });
}

/** Returns the epoch of a run's present execution. */
export function epochOf({ epoch = 0 }: Pick<Run, 'epoch'>): number {
  return epoch;
}
