import { HostError } from '../errors.ts';
import { groupCommit } from '../group-commit.ts';
import type { Clock } from '../ports/clock.ts';
import type { NewEvent } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Random } from '../ports/random.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import { type Appended, draftOf, type OwnDraft, type RunDraft, refusal } from './run-draft.ts';

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
   * Opens a run for the host itself, lets `work` do with it what belongs together, and makes that durable. `work` must wait for nothing but
   * the run: others share the transaction.
   *
   * @param epoch as for `append`
   */
  step<T>(runId: string, epoch: number | undefined, work: (run: RunDraft) => Promise<T>): Promise<T>;
  /**
   * The same in a transaction of its own, in which more can be done.
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
export interface OpenRun extends Pick<OwnDraft, 'run' | 'append' | 'copy' | 'set' | 'signal'> {
  readonly transaction: Transaction;
}

/**
 * Writes one delivery of each event for each subscription that hears of it, into the transaction that appends them.
 *
 * @returns how many there were
 */
export type Outbox = (appended: readonly Appended[], transaction: Transaction) => Promise<number>;

export interface EventLogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Writes the deliveries of events into the transaction that appends them. */
  readonly outbox: Outbox;
  /** Told after the commit, so that whoever waits for events can look. */
  readonly appended: (event: RunEvent) => void;
}

export function eventLog(options: EventLogOptions): RunLog {
  const { store, outbox, appended } = options;
  /** How many deliveries an event had of late. Of the first nothing is known. */
  let heardBy = 100;
  const takeStep = groupCommit<Step, readonly RunEvent[]>({
    transaction: store.transaction,
    work: takeSteps,
    keyOf: ({ runId }) => runId,
    largest: () => Math.min(MOST_STEPS, Math.ceil(MOST_DELIVERIES / Math.max(heardBy, 1))),
  });

  return {
    append: (runId, event, epoch) =>
      step(runId, epoch, async (draft) => {
        const [recorded] = await draft.append(event);
        if (recorded === undefined) throw refusal(draft.run, event.type);
        return recorded;
      }),
    step,
    async change(find, work) {
      const { result, events } = await store.transaction(async (transaction) => {
        const drafted = draftOf(await find(transaction), options);
        const result = await work({
          get run() {
            return drafted.run;
          },
          append: drafted.append,
          copy: drafted.copy,
          set: drafted.set,
          signal: drafted.signal,
          transaction,
        });
        await write([drafted], transaction);
        return { result, events: drafted.recorded };
      });
      for (const event of events) appended(event);
      return result;
    },
    hosted: (runId, epoch) => async (transaction) => {
      const [run] = await store.runs.forAppend([runId], transaction);
      return requireOwnEpoch(run, epoch);
    },
  };

  async function step<T>(runId: string, epoch: number | undefined, work: (draft: RunDraft) => Promise<T>): Promise<T> {
    const done: T[] = [];
    const take = async (draft: RunDraft): Promise<void> => {
      done[0] = await work(draft);
    };
    const events = await takeStep({ runId, epoch, take });
    for (const event of events) appended(event);
    if (!(0 in done)) throw new Error('A step was not taken.');
    return done[0];
  }

  async function takeSteps(steps: readonly Step[], transaction: Transaction) {
    const runs = await store.runs.forAppend([...new Set(steps.map(({ runId }) => runId))], transaction);
    const drafts = new Map(runs.map((run) => [run.runId, draftOf(run, options)]));
    const outcomes: PromiseSettledResult<readonly RunEvent[]>[] = [];
    // One after the other: several may be of one run.
    for (const each of steps) outcomes.push(await outcomeOf(each, drafts.get(each.runId)));
    await write([...drafts.values()], transaction);
    return outcomes;
  }

  async function outcomeOf(
    { epoch, take }: Step,
    draft: OwnDraft | undefined,
  ): Promise<PromiseSettledResult<readonly RunEvent[]>> {
    const before = draft?.save();
    try {
      if (draft === undefined) throw noSuchRun();
      requireOwnEpoch(draft.run, epoch);
      const from = draft.recorded.length;
      await take(draft);
      return { status: 'fulfilled', value: draft.recorded.slice(from) };
    } catch (reason) {
      before?.();
      return { status: 'rejected', reason };
    }
  }

  async function write(drafts: readonly OwnDraft[], transaction: Transaction): Promise<void> {
    const changed = drafts.filter(({ isChanged }) => isChanged);
    const appended = changed.flatMap((draft) => draft.appended);
    const recorded = changed.flatMap((draft) => draft.recorded);
    const deliveries = appended.length === 0 ? 0 : await outbox(appended, transaction);
    if (recorded.length > 0) await store.events.insert(recorded, transaction);
    const runs = changed.map(({ run }) => run);
    if (runs.length > 0) await store.runs.update(runs, transaction);
    // Many are remembered for a while: others like them may follow.
    heardBy = Math.max(deliveries / Math.max(appended.length, 1), heardBy * FORGETS);
    for (const { run } of changed.filter(({ isAnswerless }) => isAnswerless)) await closeQuestions(run, transaction);
  }

  /** Nobody waits for an answer any more. */
  async function closeQuestions({ runId }: Run, transaction: Transaction): Promise<void> {
    for (const { dueAt: _dueAt, ...interrupt } of await store.interrupts.pendingOf(runId, transaction)) {
      await store.interrupts.update({ ...interrupt, status: 'closed' }, transaction);
    }
  }
}

/** What may share a transaction, so that none is long: steps, and deliveries as far as the last ones tell. */
const MOST_STEPS = 128;
const MOST_DELIVERIES = 2000;
const FORGETS = 0.8;

interface Step {
  readonly runId: string;
  readonly epoch: number | undefined;
  readonly take: (draft: RunDraft) => Promise<void>;
}

/** @param epoch under which the run is thought to be executed */
function requireOwnEpoch(run: Run | undefined, epoch: number | undefined): Run {
  if (run === undefined) throw noSuchRun();
  if (epoch !== undefined && epoch !== epochOf(run)) throw new RunTakenOver('Another host took the run over.');
  return run;
}

function noSuchRun(): HostError {
  return new HostError('not_found', 'There is no such run.', { details: undefined });
}

/** The epoch of a run's present execution. */
export function epochOf({ epoch = 0 }: Pick<Run, 'epoch'>): number {
  return epoch;
}
