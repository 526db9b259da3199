import type { RealmName } from './plan.ts';

/** What the world of a soak left behind, as receivers wrote it down and as the hosts tell it. The rules judge this and nothing else. */
export interface Evidence {
  readonly policy: { readonly maxAttempts: number; readonly delayMs: number; readonly maxDelayMs: number };
  readonly attemptTimeoutMs: number;
  readonly subscriptions: readonly KnownSubscription[];
  readonly runs: readonly KnownRun[];
  /** Each answer that acknowledged a creation with an idempotency key. */
  readonly keyed: readonly KeyedAnswer[];
  readonly received: readonly Received[];
  readonly deadLetters: readonly DeadLetter[];
  readonly disturbances: readonly Disturbance[];
  readonly audits: readonly AuditVerdict[];
  /** What nothing that was done to the world explains, in sentences: a host that ended by itself, an answer that nobody should get. */
  readonly unexplained: readonly string[];
}

export interface KnownSubscription {
  readonly name: string;
  /** As its deliveries name it; undefined when the answer to its registration was lost. */
  readonly webhookId: string | undefined;
  readonly realm: RealmName;
  readonly durable: boolean;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  /** Registered before the first run, and never removed. */
  readonly isStanding: boolean;
  /** When its removal was answered, in ms. */
  readonly removedAt?: number;
}

export interface KnownRun {
  readonly runId: string;
  readonly realm: RealmName;
  readonly workflow: string;
  readonly tags: readonly string[];
  /** Whether its creation was answered 201. Others may exist, too: their clients lost the answer. */
  readonly acknowledged: boolean;
  /** Under which it was created. */
  readonly idempotencyKey?: string;
  readonly status: string;
  readonly log: readonly LoggedEvent[];
}

export interface KeyedAnswer {
  readonly idempotencyKey: string;
  readonly runId: string;
}

export interface LoggedEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  /** In ms. */
  readonly at: number;
  /** Of a node's start: how many came before it. */
  readonly attempt?: number;
}

/** A request that came to a receiver, written down before it was answered. */
export interface Received {
  readonly at: number;
  /** The name of the subscription that it came for, by its path. */
  readonly name: string;
  readonly webhookId: string;
  /** Bare, whatever the major. */
  readonly runId: string;
  /** Of an id that is bound to one. */
  readonly tenant: string | undefined;
  readonly sequence: number;
  readonly eventId: string;
  readonly type: string;
  /** SHA-256 of the body. */
  readonly digest: string;
  /** Why its signature or its form was not accepted. */
  readonly refusal: string | undefined;
  /** A status, or what was done instead of answering. */
  readonly answer: number | 'hang' | 'cut';
  /** When all of the answer had been handed to the network. */
  readonly answeredAt: number | undefined;
}

export interface DeadLetter {
  /** Of its subscription. */
  readonly name: string;
  readonly runId: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly at: number;
}

/** Something that was done to the world. */
export interface Disturbance {
  readonly kind: string;
  readonly subject: string;
  readonly from: number;
  readonly until: number;
  /** Whether an attempt may have happened of which no host remembers the outcome. */
  readonly losesOutcomes: boolean;
}

export interface AuditVerdict {
  readonly realm: RealmName;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly checkpoints: number;
}
