import { isTerminal, type Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Appended, OwnDraft } from './run-draft.ts';

/**
 * Writes one delivery of each event for each matching subscription, in the transaction that appends the events.
 *
 * @returns the number of deliveries
 */
export type Outbox = (appended: readonly Appended[], transaction: Transaction) => Promise<number>;

/** The parts of a {@link DraftWriter}. */
export interface DraftWriterOptions {
  readonly store: Store;
  readonly outbox: Outbox;
  readonly servesFiles?: boolean;
}

/** Writes drafts of runs, and sizes the transactions that they share. */
export class DraftWriter {
  readonly #store: Store;
  readonly #outbox: Outbox;
  readonly #servesFiles: boolean;
  /** Deliveries for each event in recent transactions. Starts high, because the number of subscriptions is unknown. */
  #deliveriesPerEvent = 100;

  /** @param options `servesFiles`: a run gets the revision of its workspace's files when it starts; default false */
  constructor({ store, outbox, servesFiles = false }: DraftWriterOptions) {
    this.#store = store;
    this.#servesFiles = servesFiles;
    this.#outbox = outbox;
  }

  /** The number of steps that may share a transaction, so that it stays short. */
  get mostSteps(): number {
    return Math.min(MOST_STEPS, Math.ceil(MOST_DELIVERIES / Math.max(this.#deliveriesPerEvent, 1)));
  }

  /**
   * Writes the changed ones of `drafts`: deliveries, events, runs, the closing of questions that no answer can reach any
   * more, and the end of the secrets that an ended run has opened.
   */
  async write(drafts: readonly OwnDraft[], transaction: Transaction): Promise<void> {
    const changed = drafts.filter(({ isChanged }) => isChanged);
    if (this.#servesFiles) await this.#fixFiles(changed, transaction);
    const appended = changed.flatMap((draft) => draft.appended);
    const recorded = changed.flatMap((draft) => draft.recorded);
    const deliveries = appended.length === 0 ? 0 : await this.#outbox(appended, transaction);
    if (recorded.length > 0) await this.#store.events.insert(recorded, transaction);
    const runs = changed.map(({ run }) => run);
    if (runs.length > 0) await this.#store.runs.update(runs, transaction);
    // A high number decays slowly: similar events tend to follow.
    this.#deliveriesPerEvent = Math.max(deliveries / Math.max(appended.length, 1), this.#deliveriesPerEvent * DECAY);
    for (const { run } of changed.filter(({ isAnswerless }) => isAnswerless)) {
      await this.#closeQuestions(run, transaction);
    }
    // Nothing is recorded for an ended run any more, so nothing is redacted.
    for (const { runId, status, usage } of runs) {
      if (isTerminal(status) && usage?.secrets !== undefined)
        await this.#store.openedSecrets.remove(runId, transaction);
    }
  }

  /** Gives the runs that start the files of this moment. Locks the places in one order, so that no two hosts deadlock. */
  async #fixFiles(drafts: readonly OwnDraft[], transaction: Transaction): Promise<void> {
    const places = new Map<string, OwnDraft[]>();
    for (const draft of drafts.filter(({ isStarted }) => isStarted)) {
      const key = JSON.stringify([draft.run.tenant, draft.run.workspace, draft.run.mode]);
      places.set(key, [...(places.get(key) ?? []), draft]);
    }
    for (const [, started] of [...places].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const [first] = started;
      if (first === undefined) continue;
      const filesRevision = await this.#store.workspace.revision(first.run, transaction);
      for (const draft of started) draft.set({ ...draft.run, filesRevision });
    }
  }

  async #closeQuestions({ runId }: Run, transaction: Transaction): Promise<void> {
    for (const { dueAt: _dueAt, ...interrupt } of await this.#store.interrupts.pendingOf(runId, transaction)) {
      await this.#store.interrupts.update({ ...interrupt, status: 'closed' }, transaction);
    }
  }
}

const MOST_STEPS = 128;
const MOST_DELIVERIES = 2000;
const DECAY = 0.8;
