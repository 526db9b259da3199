import type { SubjectRecord } from '@svc/versioning/projection';
import type { Json, JsonObject } from '../json.ts';
import type { Transaction } from './transaction.ts';

/** The kinds of questions that a run may wait for. @see Interface: Discovery document, interrupts */
export type InterruptKind =
  | 'approval'
  | 'clarification'
  | 'external-event'
  | 'custom'
  | 'conversation.start'
  | 'conversation.exchange'
  | 'conversation.close'
  | 'low-confidence';

/** A question as an engine asks it. */
export interface InterruptRequest {
  readonly nodeId: string;
  /** Identifies the question within its node, 1 to 256 characters. A question is asked once under its key. */
  readonly key: string;
  readonly kind: InterruptKind;
  /** The subject of the question, in the form of its kind. */
  readonly data: JsonObject;
  /** A JSON Schema that validates answers. */
  readonly resumeSchema?: JsonObject;
  /** The longest wait for an answer, in ms. An unanswered approval is then rejected. Absent or 0: no limit. */
  readonly timeoutMs?: number;
  /**
   * Further approvers of an approval that is not answered in time, 1 to 10 steps in the order of their times. The data
   * then has `onTimeout: 'escalate'` and names approvers. Escalation does not prolong `timeoutMs`, which is required.
   */
  readonly escalation?: readonly EscalationStep[];
}

/** The approvers that an approval names. Each of them may answer. */
export interface ApproverRefs {
  /** Ids of principals. */
  readonly approversList?: readonly string[] | undefined;
  /** Groups of the `approvers` of `createHost`. */
  readonly approverGroupRefs?: readonly string[] | undefined;
  /** Roles of the `approvers` of `createHost`. */
  readonly approverRoleRefs?: readonly string[] | undefined;
}

/** A step of an escalation: approvers that may answer from a time on, besides those of the question and earlier steps. */
export interface EscalationStep extends ApproverRefs {
  /** Counts from the question, in ms. Less than its `timeoutMs`. */
  readonly afterMs: number;
}

/** A stored question of a run. */
export interface Interrupt extends InterruptRequest {
  readonly interruptId: string;
  readonly runId: string;
  /** `closed`: the run ended while it waited. */
  readonly status: 'pending' | 'resolved' | 'closed';
  /** Times in ms since the epoch. */
  readonly requestedAt: number;
  /** While it is pending, the next time at which its timer acts: a step of the escalation, or the end of the timeout. */
  readonly dueAt?: number;
  /** The votes on an approval so far. */
  readonly votes: readonly Vote[];
  readonly resolution?: Resolution;
}

/** A vote on an approval. */
export interface Vote {
  readonly principal: string;
  readonly action: 'accept' | 'reject' | 'edit-accept';
  /** True: the vote of an override. */
  readonly isOverride?: boolean;
}

/** The resolution of a question. */
export interface Resolution {
  readonly resumeValue: Json;
  readonly at: number;
  /** The decision on an approval. Absent when it was sent back to be refined. */
  readonly decision?: 'granted' | 'rejected';
  /** True: the timeout resolved it. */
  readonly isTimeout?: boolean;
  /** True: an override granted it without its quorum. */
  readonly isOverride?: boolean;
  readonly by?: ResolverRecord;
}

/** The principal that answered. */
export interface ResolverRecord {
  readonly principal: string;
  readonly subject?: SubjectRecord;
}

/** The answer as an engine gets it. */
export interface InterruptAnswer {
  readonly resumeValue: Json;
  readonly decision?: 'granted' | 'rejected';
  readonly isTimeout: boolean;
  /** True: an override granted the approval without its quorum. */
  readonly isOverride: boolean;
}

/** The place of a due question, after which the next page begins. */
export type DueCursor = Pick<Interrupt, 'runId' | 'interruptId'> & { readonly dueAt: number };

/**
 * The questions of runs. Reads take the transaction that found the run: a caller's access to a question is its access
 * to the run.
 */
export interface InterruptStore {
  insert(interrupt: Interrupt, transaction: Transaction): Promise<void>;
  /** Writes status, due time, votes and resolution. */
  update(interrupt: Interrupt, transaction: Transaction): Promise<void>;
  byId(runId: string, interruptId: string, transaction: Transaction): Promise<Interrupt | undefined>;
  byKey(runId: string, nodeId: string, key: string, transaction: Transaction): Promise<Interrupt | undefined>;
  /** Returns the newest question of a node. */
  ofNode(runId: string, nodeId: string, transaction: Transaction): Promise<Interrupt | undefined>;
  /** Returns the pending questions of a run. */
  pendingOf(runId: string, transaction: Transaction): Promise<readonly Interrupt[]>;
  /**
   * Returns up to `limit` pending questions that are due, sorted by `dueAt`, `runId` and `interruptId`.
   *
   * @param now in ms since the epoch
   * @param after returns those after this place; default: from the longest due
   */
  due(now: number, limit: number, after?: DueCursor): Promise<readonly Interrupt[]>;
}
