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

/** The actions that an approval may offer, as major 2 names them. */
export type ApprovalAction = 'accept' | 'reject' | 'refine' | 'edit-accept' | 'ask';

/**
 * The subject of an approval. A title is enough.
 *
 * @example
 * const data: ApprovalSubject = { title: 'Publish the post?', approversList: ['p_chief'] };
 */
export interface ApprovalSubject extends ApproverRefs {
  /** The question, in words. */
  readonly title: string;
  readonly description?: string | undefined;
  /** The id of the thing that is approved. Default: the `nodeId` of the question. */
  readonly artifactId?: string | undefined;
  /** The type of the thing that is approved. Default: `question`. */
  readonly artifactType?: string | undefined;
  /** The thing that is approved. */
  readonly artifactData?: Json | undefined;
  /** The actions that are offered. Default: `accept` and `reject`. */
  readonly actions?: readonly ApprovalAction[] | undefined;
  /** The number of approvers that must accept. Default: 1. */
  readonly requiredApprovals?: number | undefined;
  /** Whether the first rejection rejects, or more than half of `requiredApprovals`. Default: `single-veto`. */
  readonly rejectionPolicy?: 'single-veto' | 'majority' | undefined;
  /** True: an override grants the approval without its quorum. Default: false. */
  readonly overrideBypassesQuorum?: boolean | undefined;
  /** Rejects an approval that is not answered in time, or asks further approvers first. Default: `reject`. */
  readonly onTimeout?: 'reject' | 'escalate' | undefined;
  /** Whom to tell about the question. It does not say who may answer. */
  readonly audience?:
    | {
        readonly subjects?: readonly string[];
        readonly groups?: readonly string[];
        readonly roles?: readonly string[];
      }
    | undefined;
}

/** A question of a clarification. */
export interface ClarifyingQuestion {
  readonly id: string;
  readonly question: string;
  /** A JSON Schema that the answer must match. Default: any answer. */
  readonly schema?: JsonObject | undefined;
}

/** The subject of a question, by the kind of the question. Kinds but `approval` take members of your own, too. */
export interface QuestionData {
  readonly approval: ApprovalSubject;
  readonly clarification: {
    readonly questions: readonly ClarifyingQuestion[];
    readonly contextType?: string | undefined;
  };
  readonly 'external-event': { readonly eventType: string; readonly correlation: JsonObject };
  readonly custom: JsonObject & { readonly customKind: string };
  readonly 'conversation.start': JsonObject & { readonly conversationId: string };
  readonly 'conversation.exchange': JsonObject & { readonly conversationId: string; readonly prompt: string };
  readonly 'conversation.close': JsonObject & { readonly conversationId: string };
  readonly 'low-confidence': JsonObject & {
    readonly agentId: string;
    readonly threshold: number;
    readonly observed: number;
  };
}

/** A question without its place in the run. Its kind gives its data their form. */
export type Question = {
  readonly [Kind in InterruptKind]: QuestionTerms & { readonly kind: Kind; readonly data: QuestionData[Kind] };
}[InterruptKind];

/** A question as an engine asks it. */
export type InterruptRequest = Question & QuestionPlace;

/** A question that has the form of its kind, with every default. */
export interface AskedQuestion extends QuestionPlace, QuestionTerms {
  readonly kind: InterruptKind;
  /** The subject of the question, in the form of its kind. */
  readonly data: JsonObject;
}

/** The place of a question in its run. */
export interface QuestionPlace {
  readonly nodeId: string;
  /** Identifies the question within its node, 1 to 256 characters. A question is asked once under its key. */
  readonly key: string;
}

/** The terms of an answer, which every kind has. */
export interface QuestionTerms {
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
  /** Groups of the `authorization.approvers` of `createHost`. */
  readonly approverGroupRefs?: readonly string[] | undefined;
  /** Roles of the `authorization.approvers` of `createHost`. */
  readonly approverRoleRefs?: readonly string[] | undefined;
}

/** A step of an escalation: approvers that may answer from a time on, besides those of the question and earlier steps. */
export interface EscalationStep extends ApproverRefs {
  /** Counts from the question, in ms. Less than its `timeoutMs`. */
  readonly afterMs: number;
}

/** A stored question of a run. */
export interface Interrupt extends AskedQuestion {
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
