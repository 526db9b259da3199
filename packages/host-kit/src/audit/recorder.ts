import { type AuditFact, type Checkpoint, type CheckpointSigner, merkleTree, sealed } from '@svc/auth/audit';
import { mintId } from '@svc/versioning/ids';
import type { Clock } from '../ports/clock.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';

/** Writes facts into the audit log, and seals it. */
export interface AuditRecorder {
  /** Writes a fact as part of what it records. */
  record(fact: AuditFact, transaction: Transaction): Promise<void>;
  /**
   * Takes a fact about what changed nothing. It is written within a fraction of a second, together with others.
   *
   * @returns a promise while too many are waiting, which resolves when there is room again
   */
  recordRequest(fact: AuditFact): Promise<void> | undefined;
  start(): void;
  /** Writes what is waiting and seals it. */
  stop(): Promise<void>;
}

export interface AuditRecorderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signer: CheckpointSigner;
  /** A checkpoint is due after so many entries, or so long after the first that none covers. */
  readonly intervalEntries: number;
  readonly intervalSeconds: number;
  readonly observer: AuditObserver;
}

/** Told of what the recorder does by itself. It must not throw. */
export interface AuditObserver {
  sealed(): void;
  /** It will be tried again. */
  failed(step: 'write' | 'seal'): void;
}

export function auditRecorder(options: AuditRecorderOptions): AuditRecorder {
  const { store, clock, random, log, signer, intervalEntries, intervalSeconds, observer } = options;
  let waiting: AuditFact[] = [];
  let writing: Promise<void> | undefined;
  let sealing: Promise<void> = Promise.resolve();
  let cancelWrite: (() => void) | undefined;
  let cancelSeal: (() => void) | undefined;
  let sinceSeal = 0;
  let stopped = false;

  return {
    async record(fact, transaction) {
      await store.audit.append([fact], transaction);
      counted(1);
    },
    recordRequest(fact) {
      waiting.push(fact);
      if (waiting.length >= BATCH) return waiting.length >= MOST_WAITING ? write() : void write();
      cancelWrite ??= clock.at(clock.now() + WRITE_AFTER_MS, () => void write());
      return undefined;
    },
    start: armSeal,
    async stop() {
      stopped = true;
      cancelSeal?.();
      await write();
      await seal();
    },
  };

  /** One batch after another; whoever waits, waits for all that was there when it asked. */
  async function write(): Promise<void> {
    cancelWrite?.();
    cancelWrite = undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      try {
        await store.transaction((transaction) => store.audit.append(batch, transaction));
        waiting = waiting.slice(batch.length);
        counted(batch.length);
      } catch (error) {
        observer.failed('write');
        log({ level: 'error', event: 'audit.write-failed', waiting: waiting.length, ...describeError(error) });
        if (!stopped) cancelWrite ??= clock.at(clock.now() + RETRY_AFTER_MS, () => void write());
        return;
      }
    }
  }

  function counted(entries: number): void {
    sinceSeal += entries;
    if (sinceSeal >= intervalEntries) void seal();
  }

  function armSeal(): void {
    if (stopped) return;
    cancelSeal = clock.at(clock.now() + intervalSeconds * 1000, () => {
      void seal().then(armSeal);
    });
  }

  function seal(): Promise<void> {
    sinceSeal = 0;
    sealing = sealing.then(sealAll);
    return sealing;
  }

  /** A checkpoint covers at most an interval, so a long backlog becomes several. */
  async function sealAll(): Promise<void> {
    try {
      for (;;) {
        const entries = await store.audit.unsealed(intervalEntries);
        const [first, last] = [entries[0], entries.at(-1)];
        if (first === undefined || last === undefined) return;
        const tree = merkleTree();
        for (const { hash } of entries) tree.add(hash);
        const unsigned = {
          checkpoint: mintId('ckp', clock.now, random),
          atSequence: last.atSequence,
          merkleRoot: tree.root(),
        };
        const checkpoint: Checkpoint = await sealed(unsigned, signer);
        await store.transaction((transaction) => store.audit.seal(checkpoint, first.atSequence - 1, transaction));
        observer.sealed();
        if (entries.length < intervalEntries) return;
      }
    } catch (error) {
      observer.failed('seal');
      log({ level: 'error', event: 'audit.seal-failed', ...describeError(error) });
    }
  }
}

const BATCH = 200;
const MOST_WAITING = 5000;
const WRITE_AFTER_MS = 50;
const RETRY_AFTER_MS = 1000;
