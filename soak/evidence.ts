import type { RealmName } from './plan.ts';

/**
 * The results of a soak, from the records of the receivers and the responses of the hosts. The rules judge only this.
 */
export interface Evidence {
  /** The retry policy of durable subscriptions. */
  readonly policy: { readonly maxAttempts: number; readonly delayMs: number; readonly maxDelayMs: number };
  readonly attemptTimeoutMs: number;
  readonly subscriptions: readonly KnownSubscription[];
  readonly runs: readonly KnownRun[];
  /** Each 201 response to a creation with an idempotency key. */
  readonly keyed: readonly KeyedAnswer[];
  readonly received: readonly Received[];
  readonly deadLetters: readonly DeadLetter[];
  readonly disturbances: readonly Disturbance[];
  readonly audits: readonly AuditVerdict[];
  /** See `Hosts`. */
  readonly bootMs: readonly number[];
  /** One sentence for each fault that no disturbance explains: a host that exited by itself, an unexpected response. */
  readonly unexplained: readonly string[];
}

/** A subscription of the soak. */
export interface KnownSubscription {
  readonly name: string;
  /** Undefined when the response to its registration was lost. */
  readonly webhookId: string | undefined;
  readonly realm: RealmName;
  readonly durable: boolean;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  /** True when it was registered before the first run and is never removed. */
  readonly isStanding: boolean;
  /** The time of the response to its removal, in ms since the epoch. */
  readonly removedAt?: number;
}

/** A run of the soak, as its host returns it. */
export interface KnownRun {
  readonly runId: string;
  readonly realm: RealmName;
  readonly workflow: string;
  readonly tags: readonly string[];
  /** True when its creation returned 201. A run can exist without it, when the response was lost. */
  readonly acknowledged: boolean;
  /** The idempotency key of its creation. */
  readonly idempotencyKey?: string;
  readonly status: string;
  readonly log: readonly LoggedEvent[];
}

/** The run that a creation with an idempotency key returned. */
export interface KeyedAnswer {
  readonly idempotencyKey: string;
  readonly runId: string;
}

/** An event in the log of a run. */
export interface LoggedEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** For the start of a node, the number of earlier starts. */
  readonly attempt?: number;
}

/** A request at a receiver, recorded before the receiver responded. */
export interface Received {
  /** In ms since the epoch. */
  readonly at: number;
  /** The name of its subscription, from the request path. */
  readonly name: string;
  readonly webhookId: string;
  /** The bare id, in both majors. */
  readonly runId: string;
  /** The tenant of a tenant-bound run id; undefined for a bare id. */
  readonly tenant: string | undefined;
  readonly sequence: number;
  readonly eventId: string;
  readonly type: string;
  /** SHA-256 of the body. */
  readonly digest: string;
  /** The error code of its verification; undefined when it verified. */
  readonly refusal: string | undefined;
  /** The status of the response; `hang` without a response, `cut` for a broken connection. */
  readonly answer: number | 'hang' | 'cut';
  /** The time at which the whole response was handed to the network. */
  readonly answeredAt: number | undefined;
}

/** A dead letter, as a host returns it. */
export interface DeadLetter {
  /** The name of its subscription. */
  readonly name: string;
  readonly runId: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly at: number;
}

/** A disturbance that took place. Times are in ms since the epoch. */
export interface Disturbance {
  readonly kind: string;
  readonly subject: string;
  readonly from: number;
  readonly until: number;
  /** True when a host may have lost the outcome of a delivery attempt. */
  readonly losesOutcomes: boolean;
  /** The counts of what it has done, by name. */
  readonly effects?: Readonly<Record<string, number>>;
}

/** The response of `/v1/audit/verify`. */
export interface AuditVerdict {
  readonly realm: RealmName;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly checkpoints: number;
}
