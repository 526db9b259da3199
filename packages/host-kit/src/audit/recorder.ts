import { type AuditFact, type Checkpoint, type CheckpointSigner, merkleTree, sealed } from '@svc/auth/audit';
import { mintId } from '@svc/versioning/ids';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { Transaction } from '../ports/transaction.ts';

/** Writes facts into the audit log, and seals the log with checkpoints. */
export interface AuditRecorder {
  /** Writes a fact in the transaction of the change that it records. */
  record(fact: AuditFact, transaction: Transaction): Promise<void>;
  /**
   * Queues a fact about a request that changed nothing. It is written within 50 ms, together with others.
   *
   * @returns undefined; or, while 5000 facts wait, a promise that resolves when they are written
   */
  recordRequest(fact: AuditFact): Promise<void> | undefined;
  start(): void;
  /** Writes the queued facts and seals them. */
  stop(): Promise<void>;
}

export interface AuditRecorderOptions extends SealerOptions {
  /** A checkpoint is written this many seconds after the previous one, even when fewer entries wait for it. */
  readonly intervalSeconds: number;
}

/** Observes the work that the recorder does on its own. Its methods must not throw. */
export interface AuditObserver {
  /** A checkpoint was written. */
  sealed(): void;
  /** A step failed. It will be retried. */
  failed(step: 'write' | 'seal'): void;
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

  recordRequest(fact: AuditFact): Promise<void> | undefined {
    this.#waiting.push(fact);
    if (this.#waiting.length >= MAX_WAITING) return this.#write();
    if (this.#waiting.length >= BATCH) void this.#write();
    else this.#writeAfter(WRITE_AFTER_MS);
    return undefined;
  }

  start(): void {
    this.#sealAfterInterval();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelSeal?.();
    await this.#write();
    await this.#sealer.seal();
  }

  #writeAfter(ms: number): void {
    const { clock } = this.#options;
    this.#cancelWrite ??= clock.at(clock.now() + ms, () => void this.#write());
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
        await store.transaction((transaction) => store.audit.append(batch, transaction));
        this.#waiting = this.#waiting.slice(batch.length);
        this.#sealer.count(batch.length);
      } catch (error) {
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
    this.#cancelSeal = clock.at(clock.now() + intervalSeconds * 1000, () => {
      void this.#sealer.seal().then(() => this.#sealAfterInterval());
    });
  }
}

interface SealerOptions extends HostPorts {
  readonly signer: CheckpointSigner;
  /** The number of entries after which a checkpoint is written, and the most that one covers. */
  readonly intervalEntries: number;
  readonly observer: AuditObserver;
}

class Sealer {
  readonly #options: SealerOptions;
  /** The number of entries written since the last seal began. */
  #unsealed = 0;
  /** The last seal. Seals run one after another. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: SealerOptions) {
    this.#options = options;
  }

  /** Counts written entries, and seals them when a checkpoint is full. */
  count(entries: number): void {
    this.#unsealed += entries;
    if (this.#unsealed >= this.#options.intervalEntries) void this.seal();
  }

  /** Seals every unsealed entry. Never rejects. */
  seal(): Promise<void> {
    this.#unsealed = 0;
    this.#last = this.#last.then(() => this.#sealAll());
    return this.#last;
  }

  /** Writes one checkpoint for each interval of entries, so a long backlog becomes several. */
  async #sealAll(): Promise<void> {
    const { store, intervalEntries, observer, log } = this.#options;
    try {
      for (;;) {
        const entries = await store.audit.unsealed(intervalEntries);
        const [first, last] = [entries[0], entries.at(-1)];
        if (first === undefined || last === undefined) return;
        const checkpoint = await this.#checkpoint(entries, last.atSequence);
        await store.transaction((transaction) => store.audit.seal(checkpoint, first.atSequence - 1, transaction));
        observer.sealed();
        if (entries.length < intervalEntries) return;
      }
    } catch (error) {
      observer.failed('seal');
      log({ level: 'error', event: 'audit.seal-failed', ...describeError(error) });
    }
  }

  #checkpoint(entries: readonly { readonly hash: string }[], atSequence: number): Promise<Checkpoint> {
    const { clock, random, signer } = this.#options;
    const tree = merkleTree();
    for (const { hash } of entries) tree.add(hash);
    return sealed({ checkpoint: mintId('ckp', clock.now, random), atSequence, merkleRoot: tree.root() }, signer);
  }
}

const BATCH = 200;
const MAX_WAITING = 5000;
const WRITE_AFTER_MS = 50;
const RETRY_AFTER_MS = 1000;
