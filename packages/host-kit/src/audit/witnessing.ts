import type { CheckpointSigner } from '@svc/auth/audit';
import {
  type CheckpointWitness,
  type CosignRequest,
  consistencyProof,
  noteKey,
  openHead,
  signedHead,
  storedNodes,
  type TreeReader,
  type TreeRun,
  treeHead,
  type WitnessAnswer,
  withRuns,
} from '@svc/auth/audit-tree';
import type { AuditStore } from '../ports/audit.ts';
import type { Clock } from '../ports/clock.ts';
import { AuditLogError } from './anchor.ts';

export interface WitnessingOptions {
  readonly witness: CheckpointWitness;
  readonly audit: AuditStore;
  readonly origin: string;
  readonly signer: CheckpointSigner;
  readonly clock: Clock;
}

/** Has the heads of a log cosigned, each with the proof that the witness needs. */
export class Witnessing {
  readonly #options: WitnessingOptions;
  /** The size of the tree that the witness cosigned last, as far as this host knows. */
  #size = 0;
  #deadlineMs = DEADLINE_MS;

  constructor(options: WitnessingOptions) {
    this.#options = options;
  }

  /** The number of entries that the witness has cosigned, as far as this host knows. */
  get size(): number {
    return this.#size;
  }

  /** Gives every further request a second, for a host that stops. */
  hurry(): void {
    this.#deadlineMs = LAST_DEADLINE_MS;
  }

  /**
   * Asks the witness for the size of its last head, with the last head of the log.
   *
   * @returns the number of entries that the witness has cosigned
   * @throws {AuditLogError} when the log does not contain them
   * @throws {Error} when the witness does not answer
   */
  async compare(): Promise<number> {
    const { audit, origin, signer } = this.#options;
    const head = await this.#lastHead();
    const note = await signedHead({ origin, ...head }, signer);
    const answer = await this.#ask({ note, oldSize: head.treeSize, proof: [] });
    // A witness may refuse the head of a log without entries. Nothing can have been rewritten in it.
    if (answer.kind === 'inconsistent' && head.treeSize > 0) throw new AuditLogError(rewritten(head.treeSize));
    this.#size = answer.kind === 'other-size' ? answer.size : head.treeSize;
    const end = (await audit.head())?.atSequence ?? 0;
    if (this.#size > end) throw new AuditLogError(cut(end, this.#size));
    return this.#size;
  }

  /**
   * Returns the cosignatures of a note.
   *
   * @throws {AuditLogError} when the witness has cosigned entries that the log does not contain
   * @throws {Error} when the witness does not answer within five seconds
   */
  async cosign(grown: {
    readonly note: string;
    readonly treeSize: number;
    /** The size of the stored tree. */
    readonly from: number;
    readonly runs: readonly TreeRun[];
  }): Promise<string> {
    const { note, treeSize, from, runs } = grown;
    const reader = withRuns(this.#options.audit, runs);
    for (let turn = 0, oldSize = this.#size || from; turn < MOST_TURNS; turn++) {
      const proof = await this.#proofFrom(reader, oldSize, treeSize);
      const answer = await this.#ask({ note, oldSize, proof });
      if (answer.kind === 'inconsistent') throw new AuditLogError(rewritten(oldSize));
      if (answer.kind === 'cosigned') {
        this.#size = treeSize;
        return answer.lines;
      }
      // Another host of the store may have sealed more: then the next checkpoint reaches up to that entry.
      this.#size = oldSize = answer.size;
      if (oldSize > treeSize) break;
    }
    const end = (await this.#options.audit.head())?.atSequence ?? 0;
    if (this.#size > end) throw new AuditLogError(cut(end, this.#size));
    throw new Error(
      `The witness has cosigned a tree of ${this.#size} entries meanwhile, and this one has ${treeSize}.`,
    );
  }

  /** The head of the last note that this key has signed; otherwise that of the stored tree. */
  async #lastHead() {
    const { audit, origin, signer } = this.#options;
    const note = await audit.note();
    const opened = note === undefined ? undefined : await openHead(note, [noteKey(origin, signer.publicKey)]);
    return opened ?? (await treeHead(storedNodes(audit), await audit.treeSize()));
  }

  /** @throws {Error} when the hashes before the start of the log, which the proof needs, were removed */
  async #proofFrom(reader: TreeReader, oldSize: number, treeSize: number): Promise<readonly string[]> {
    if (oldSize > treeSize) return [];
    try {
      return await consistencyProof(storedNodes(reader), oldSize, treeSize);
    } catch (error) {
      const start = (await this.#options.audit.start())?.atSequence ?? 0;
      throw oldSize < start ? new Error(fellBehind(oldSize, start), { cause: error }) : error;
    }
  }

  async #ask(request: CosignRequest): Promise<WitnessAnswer> {
    const { witness, clock } = this.#options;
    const late = new AbortController();
    const timeout = new Promise<never>((_, reject) => {
      late.signal.addEventListener('abort', () => reject(new Error(LATE)), { once: true });
    });
    const cancel = clock.after(this.#deadlineMs, () => late.abort());
    try {
      return await Promise.race([witness.cosign(request, late.signal), timeout]);
    } finally {
      cancel();
    }
  }
}

function cut(end: number, witnessed: number): string {
  const ends = end === 0 ? 'is empty' : `ends at entry ${end}`;
  const missing = end + 1 === witnessed ? `entry ${witnessed} is` : `entries ${end + 1} to ${witnessed} are`;
  return `The audit log ${ends}, and its witness has cosigned entry ${witnessed}: ${missing} missing. ${REMEDY}`;
}

function fellBehind(witnessed: number, start: number): string {
  return `The witness knows the audit log up to entry ${witnessed}, and the log starts at entry ${start}: the hashes that prove its growth in between were removed. Restore the state of the witness, or begin a new log under another audit.witness.origin and keep the old one as evidence.`;
}

function rewritten(size: number): string {
  return `The first ${size} entries of the audit log are not those that its witness has cosigned. ${REMEDY}`;
}

const REMEDY =
  'Restore a database that contains them, or begin a new log under another audit.witness.origin and keep the old one as evidence.';
const LATE = 'The witness did not answer in time. Check that it can be reached.';

const DEADLINE_MS = 5000;
const LAST_DEADLINE_MS = 1000;

/** Another host may seal between two turns. */
const MOST_TURNS = 3;
