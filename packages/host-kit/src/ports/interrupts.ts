import type { SubjectRecord } from '@svc/versioning/projection';
import type { Json, JsonObject } from '../json.ts';
import type { Transaction } from './transaction.ts';

/** What a run may wait for. @see Interface: Discovery document, interrupts */
export type InterruptKind =
  | 'approval'
  | 'clarification'
  | 'external-event'
  | 'custom'
  | 'conversation.start'
  | 'conversation.exchange'
  | 'conversation.close'
  | 'low-confidence';

/** What an engine asks. */
export interface InterruptRequest {
  readonly nodeId: string;
  /** Names the question within its node, 1 to 256 characters: what was asked under a key is never asked again under it. */
  readonly key: string;
  readonly kind: InterruptKind;
  /** What there is to decide or to answer, in the form of the kind. */
  readonly data: JsonObject;
  /** JSON Schema that an answer has to fit. */
  readonly resumeSchema?: JsonObject;
  /** How long the run waits, in ms. An approval that nobody gave by then is rejected. Absent or 0: without an end. */
  readonly timeoutMs?: number;
}

/** A question of a run, as it is stored. */
export interface Interrupt extends InterruptRequest {
  readonly interruptId: string;
  readonly runId: string;
  /** `closed`: the run ended while it waited. */
  readonly status: 'pending' | 'resolved' | 'closed';
  /** Times in ms since the epoch. */
  readonly requestedAt: number;
  /** When the run waits no longer. */
  readonly dueAt?: number;
  /** What was said at an approval so far. */
  readonly votes: readonly Vote[];
  readonly resolution?: Resolution;
}

export interface Vote {
  readonly principal: string;
  readonly action: 'accept' | 'reject' | 'edit-accept';
}

/** How a question was answered. */
export interface Resolution {
  readonly resumeValue: Json;
  readonly at: number;
  /** Of an approval. One that is sent back to be refined is neither. */
  readonly decision?: 'granted' | 'rejected';
  /** Nobody answered in time. */
  readonly isTimeout?: boolean;
  readonly by?: ResolverRecord;
}

/** Who answered. */
export interface ResolverRecord {
  readonly principal: string;
  readonly subject?: SubjectRecord;
}

/** The answer as an engine gets it. */
export interface InterruptAnswer {
  readonly resumeValue: Json;
  readonly decision?: 'granted' | 'rejected';
  readonly isTimeout: boolean;
}

/**
 * What runs ask. Reads belong into the transaction that found the run, which is what permits them: a question is reached through
 * its run alone.
 */
export interface InterruptStore {
  insert(interrupt: Interrupt, transaction: Transaction): Promise<void>;
  /** Writes what changes of it: status, due time, votes and resolution. */
  update(interrupt: Interrupt, transaction: Transaction): Promise<void>;
  byId(runId: string, interruptId: string, transaction: Transaction): Promise<Interrupt | undefined>;
  byKey(runId: string, nodeId: string, key: string, transaction: Transaction): Promise<Interrupt | undefined>;
  /** The newest of a node. */
  ofNode(runId: string, nodeId: string, transaction: Transaction): Promise<Interrupt | undefined>;
  /** Those of a run that nobody has answered. */
  pendingOf(runId: string, transaction: Transaction): Promise<readonly Interrupt[]>;
  /** Up to `limit` pending ones that are due, the longest due first. */
  due(now: number, limit: number): Promise<readonly Interrupt[]>;
}
