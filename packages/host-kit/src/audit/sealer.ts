import { type Checkpoint, type CheckpointRecord, type CheckpointSigner, merkleTree, sealed } from '@svc/auth/audit';
import { type CheckpointWitness, signedHead } from '@svc/auth/audit-tree';
import { mintId } from '@svc/versioning/ids';
import type { AuditStore, TreeGrowth } from '../ports/audit.ts';
import type { CheckpointSink } from '../ports/checkpoint-sink.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import { AuditLogError, compareWithSink, copyTo } from './anchor.ts';
import { postingsOf } from './postings.ts';
import { SealedTree } from './sealed-tree.ts';
import { Witnessing } from './witnessing.ts';

export interface SealerOptions extends HostPorts {
  readonly signer: CheckpointSigner;
  /** The keys that may have signed the checkpoints of the sink. */
  readonly publicKeys: readonly string[];
  /** The name of the log in its notes. */
  readonly origin: string;
  /** Undefined: checkpoints are stored in the store alone. */
  readonly sink: CheckpointSink | undefined;
  /** Undefined: the notes have no cosignature. */
  readonly witness: CheckpointWitness | undefined;
  /** The number of entries after which a checkpoint is written, and the most that one covers. */
  readonly intervalEntries: number;
  readonly observer: AuditObserver;
}

/** Observes the work that the recorder does on its own. Its methods must not throw. */
export interface AuditObserver {
  /** A checkpoint was written. */
  sealed(): void;
  /** A step failed. It will be retried. */
  failed(step: 'write' | 'seal'): void;
}

/** Seals the audit log: checkpoints, the Merkle tree with its signed notes, copies and cosignatures. */
export class Sealer {
  readonly #options: SealerOptions;
  readonly #tree: SealedTree;
  readonly #witnessing: Witnessing | undefined;
  /** The number of entries written since the last seal began. */
  #unsealed = 0;
  /** The last seal. Seals run one after another. */
  #last: Promise<void> = Promise.resolve();
  /** The result of the comparison with the sink. */
  #log: 'not compared' | 'whole' | 'cut' = 'not compared';
  /** The last entry that the sink or the witness is known to have recorded. */
  #copied = 0;
  /** The number of seals that failed one after another. */
  #failures = 0;
  /** Cancels the timer of the next attempt; undefined when there is none. */
  #cancelRetry: (() => void) | undefined;
  #isStopped = false;

  constructor(options: SealerOptions) {
    this.#options = options;
    this.#tree = new SealedTree(options.store);
    this.#witnessing =
      options.witness && new Witnessing({ ...options, witness: options.witness, audit: options.store.audit });
  }

  /**
   * Compares the log with the sink and the witness. A witness that does not answer is asked again with the next checkpoint.
   *
   * @throws {AuditLogError} when the log does not contain the last entry that one of them has recorded
   */
  async compare(): Promise<void> {
    const { sink, store, publicKeys, clock, log } = this.#options;
    try {
      if (sink !== undefined)
        this.#copied = await compareWithSink({ audit: store.audit, sink, publicKeys, clock, log });
      if (this.#witnessing !== undefined) {
        const found = await this.#witnessing.compare().catch((error: unknown) => this.#unanswered(error));
        this.#copied = Math.max(this.#copied, found);
      }
      this.#log = 'whole';
    } catch (error) {
      if (error instanceof AuditLogError) this.#log = 'cut';
      throw error;
    }
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

  /** Seals every unsealed entry once more, and retries nothing afterwards. Never rejects. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#witnessing?.hurry();
    return this.seal();
  }

  #unanswered(error: unknown): number {
    if (error instanceof AuditLogError) throw error;
    const { log } = this.#options;
    log({ level: 'error', event: 'audit.witness-unreachable', message: UNREACHABLE, ...describeError(error) });
    return 0;
  }

  /** Writes one checkpoint for each interval of entries, so a long backlog becomes several. */
  async #sealAll(): Promise<void> {
    const { observer, log } = this.#options;
    // Sealing a log that was cut would hide the cut from the next comparison.
    if (this.#log === 'cut') return;
    try {
      if (this.#log === 'not compared') await this.compare();
      while (await this.#sealNext());
      if (this.#failures > 0) log({ level: 'info', event: 'audit.seal-recovered', failures: this.#failures });
      this.#failures = 0;
    } catch (error) {
      // Its leaves may not have been stored.
      this.#tree.forget();
      if (error instanceof AuditLogError) this.#log = 'cut';
      observer.failed('seal');
      log({ level: 'error', event: 'audit.seal-failed', failures: ++this.#failures, ...describeError(error) });
      this.#retryLater();
    }
  }

  /** Returns whether more entries may wait for a checkpoint. */
  async #sealNext(): Promise<boolean> {
    const { store, intervalEntries, observer, origin, signer } = this.#options;
    const entries = await this.#unsealedEntries();
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined) return false;
    const from = first.atSequence - 1;
    const tree = await this.#tree.upTo(from);
    const checkpoint = await this.#checkpoint(entries, last.atSequence);
    for (const { hash } of entries) tree.add(hash);
    const runs = tree.takeRuns();
    const note = await signedHead({ origin, ...tree.head() }, signer);
    await this.#copy({ ...checkpoint, hash: last.hash, note });
    const cosignatures = (await this.#witnessing?.cosign({ note, treeSize: tree.size, from, runs })) ?? '';
    const growth: TreeGrowth = { from, runs, postings: postingsOf(entries), note: note + cosignatures };
    await store.transaction((transaction) => store.audit.seal(checkpoint, from, growth, transaction));
    observer.sealed();
    return entries.length >= intervalEntries;
  }

  /** Without the copy, a log that loses the checkpoint would look as if it had never had it. */
  async #copy(record: CheckpointRecord): Promise<void> {
    const { sink, clock } = this.#options;
    if (sink === undefined) return;
    try {
      await copyTo(sink, clock, record);
    } catch (error) {
      // Another host may have copied a later entry.
      this.#log = 'not compared';
      throw error;
    }
    this.#copied = record.atSequence;
  }

  /**
   * Returns the entries of the next checkpoint. A host that crashed may have copied a later entry than this host would
   * seal, e.g. with a longer interval. The sink takes no checkpoint behind that entry, so the next one reaches up to it.
   */
  async #unsealedEntries(): ReturnType<AuditStore['unsealed']> {
    const { store, intervalEntries } = this.#options;
    const copied = Math.max(this.#copied, this.#witnessing?.size ?? 0);
    const entries = await store.audit.unsealed(intervalEntries);
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined || last.atSequence >= copied) return entries;
    return store.audit.unsealed(copied - first.atSequence + 1);
  }

  #checkpoint(entries: readonly { readonly hash: string }[], atSequence: number): Promise<Checkpoint> {
    const { clock, random, signer } = this.#options;
    const tree = merkleTree();
    for (const { hash } of entries) tree.add(hash);
    return sealed({ checkpoint: mintId('ckp', clock.now, random), atSequence, merkleRoot: tree.root() }, signer);
  }

  /** Tries again after 1 s, and then after twice as long each time, up to a minute. */
  #retryLater(): void {
    if (this.#isStopped || this.#log === 'cut') return;
    this.#cancelRetry?.();
    const wait = Math.min(FIRST_RETRY_MS * 2 ** Math.min(this.#failures - 1, 10), LAST_RETRY_MS);
    this.#cancelRetry = this.#options.clock.after(wait, () => void this.seal());
  }
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

const UNREACHABLE =
  'The witness of the audit log did not confirm its last head. No checkpoint is made until it answers. Check that it can be reached.';
