import type { AuditFact } from '@svc/auth/audit';
import { storeUnavailable } from '../errors.ts';
import { describeError } from '../ports/log.ts';
import type { Transaction } from '../ports/transaction.ts';
import { Sealer, type SealerOptions } from './sealer.ts';

/** Writes facts into the audit log, and seals the log with checkpoints. */
export interface AuditRecorder {
  /** Writes a fact in the transaction of the change that it records. */
  record(fact: AuditFact, transaction: Transaction): Promise<void>;
  /**
   * Returns undefined while another request may be recorded. While 5000 facts wait, returns a promise that resolves when
   * some of them are written.
   *
   * @throws {HostError} `service_unavailable` when 5000 facts wait and the store takes none
   */
  admit(): Promise<void> | undefined;
  /** Returns whether 5000 facts wait. */
  isFull(): boolean;
  /**
   * Queues a fact about a request that changed nothing. It is written within 50 ms, together with others. Call `admit`
   * before the request is executed.
   *
   * @returns undefined; or, while 5000 facts wait and the store takes them, a promise that resolves when they are written
   */
  recordRequest(fact: AuditFact): Promise<void> | undefined;
  /**
   * Compares the log with its sink and its witness, and begins to seal it.
   *
   * @throws {AuditLogError} when the log does not contain the last entry that one of them has recorded
   */
  start(): Promise<void>;
  /** Writes the queued facts and seals them. */
  stop(): Promise<void>;
}

export interface AuditRecorderOptions extends SealerOptions {
  /** A checkpoint is written this many seconds after the previous one, even when fewer entries wait for it. */
  readonly intervalSeconds: number;
}

export function auditRecorder(options: AuditRecorderOptions): AuditRecorder {
  return new BatchingRecorder(options);
}

class BatchingRecorder implements AuditRecorder {
  readonly #options: AuditRecorderOptions;
  readonly #sealer: Sealer;
  /** Facts about requests that are not written yet. */
  #waiting: AuditFact[] = [];
  /** The write under way. */
  #writing: Promise<void> | undefined;
  /** Cancels the timer of the next write or of a retry; undefined when there is none. */
  #cancelWrite: (() => void) | undefined;
  /** Cancels the timer of the next checkpoint. */
  #cancelSeal: (() => void) | undefined;
  /** The last write failed. The next one is due by the timer. */
  #isFailing = false;
  /** Set by `stop`: no timer is set any more. */
  #isStopped = false;

  constructor(options: AuditRecorderOptions) {
    this.#options = options;
    this.#sealer = new Sealer(options);
  }

  async record(fact: AuditFact, transaction: Transaction): Promise<void> {
    await this.#options.store.audit.append([fact], transaction);
    this.#sealer.count(1);
  }

  admit(): Promise<void> | undefined {
    return this.isFull() ? this.#makeRoom() : undefined;
  }

  isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  recordRequest(fact: AuditFact): Promise<void> | undefined {
    this.#waiting.push(fact);
    if (this.#isFailing) return undefined;
    if (this.isFull()) return this.#write();
    if (this.#waiting.length >= BATCH) void this.#write();
    else this.#writeAfter(WRITE_AFTER_MS);
    return undefined;
  }

  async start(): Promise<void> {
    await this.#sealer.compare();
    this.#sealAfterInterval();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelSeal?.();
    await this.#write();
    await this.#sealer.stop();
  }

  async #makeRoom(): Promise<void> {
    // While the store fails, only the timer tries: each refused request would otherwise cost a transaction.
    if (!this.#isFailing) await this.#write();
    if (this.isFull()) throw storeUnavailable();
  }

  #writeAfter(ms: number): void {
    const { clock } = this.#options;
    this.#cancelWrite ??= clock.after(ms, () => void this.#write());
  }

  /**
   * Writes one batch after another. Resolves when every fact that was queued before the call is written, or a write
   * failed.
   */
  async #write(): Promise<void> {
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { store, log, observer } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await store.transaction((transaction) => store.audit.append(batch, transaction, 'last'));
        this.#waiting = this.#waiting.slice(batch.length);
        this.#isFailing = false;
        this.#sealer.count(batch.length);
      } catch (error) {
        this.#isFailing = true;
        observer.failed('write');
        log({ level: 'error', event: 'audit.write-failed', waiting: this.#waiting.length, ...describeError(error) });
        if (!this.#isStopped) this.#writeAfter(RETRY_AFTER_MS);
        return;
      }
    }
  }

  #sealAfterInterval(): void {
    if (this.#isStopped) return;
    const { clock, intervalSeconds } = this.#options;
    this.#cancelSeal = clock.after(intervalSeconds * 1000, () => {
      void this.#sealer.seal().then(() => this.#sealAfterInterval());
    });
  }
}

const BATCH = 200;
const MAX_WAITING = 5000;
const WRITE_AFTER_MS = 50;
const RETRY_AFTER_MS = 1000;
