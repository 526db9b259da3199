import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Clock, Log } from '@svc/host-kit';
import { type ProcessOfDbos, TURN } from './process-of-dbos.ts';

interface EarlierTurnsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly turnDays: number;
}

/** The turns in DBOS that are over, or whose host has lost its lease. */
export class EarlierTurns {
  readonly #dbos: ProcessOfDbos;
  readonly #options: EarlierTurnsOptions;
  #cancelTimer = (): void => {};
  #removal: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(dbos: ProcessOfDbos, options: EarlierTurnsOptions) {
    this.#dbos = dbos;
    this.#options = options;
  }

  /** Cancels the turns of a run that have not ended: their host was killed, or another one has its lease. */
  async cancel(runId: string): Promise<void> {
    const ids = await this.#find({ status: 'PENDING', attributes: { run: runId } });
    if (ids.length > 0) await this.#dbos.outside(() => DBOS.cancelWorkflows(ids));
  }

  /** Removes turns that ended long ago, now and every hour. */
  removeRegularly(): void {
    if (this.#isClosed) return;
    const { clock, log } = this.#options;
    this.#removal = this.#remove().catch((error: unknown) => {
      if (this.#isClosed) return;
      const said = error instanceof Error ? error.message : typeof error;
      log({ level: 'warn', event: 'dbos.removal-failed', error: said });
    });
    this.#cancelTimer = clock.after(REMOVE_EVERY_MS, () => this.removeRegularly());
  }

  /** Ends the removal. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    await this.#removal;
  }

  async #remove(): Promise<void> {
    const { clock, turnDays } = this.#options;
    const completedBefore = new Date(clock.now() - turnDays * DAY_MS).toISOString();
    for (let pages = 0; pages < MOST_PAGES && !this.#isClosed; pages++) {
      const ids = await this.#find({ status: ['SUCCESS', 'ERROR', 'CANCELLED'], completedBefore });
      if (ids.length > 0) await this.#dbos.outside(() => DBOS.deleteWorkflows(ids));
      if (ids.length < PAGE) return;
    }
  }

  async #find(wanted: Parameters<typeof DBOS.listWorkflows>[0]): Promise<string[]> {
    const all = { ...wanted, workflowName: TURN, limit: PAGE, loadInput: false, loadOutput: false };
    const found = await this.#dbos.outside(() => DBOS.listWorkflows(all));
    return found.map(({ workflowID }) => workflowID);
  }
}

const DAY_MS = 86_400_000;
const REMOVE_EVERY_MS = 3_600_000;
const PAGE = 500;
/** The rest is removed an hour later. */
const MOST_PAGES = 100;
