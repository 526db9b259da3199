import type { Tenancy } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { Lookup } from '../lookup.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** A registered receiver. `events` are in the stored vocabulary; what it is sent is in that of the major it registered under. */
export interface Subscription {
  /** The bare id. */
  readonly webhookId: string;
  readonly tenant: string;
  /** What of the tenant it hears of, fixed at its registration. */
  readonly workspaces: 'all' | readonly string[];
  readonly mode: 'live' | 'test';
  readonly major: Major;
  readonly url: string;
  readonly events: readonly string[];
  /** Empty: every run's; otherwise only runs that carry one of them. */
  readonly tags: readonly string[];
  /** Durable subscriptions retry and dead-letter; the others get one attempt an event behind a circuit. */
  readonly durable: boolean;
  readonly status: SubscriptionStatus;
  readonly circuit: Circuit;
  /** Times of recent failures in ms, oldest first, as many as the failure limit needs. */
  readonly failures: readonly number[];
  /** `v1`, and what it asked for beside. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** Encrypted at rest; `sealing/secret-box.ts` opens it. */
  readonly sealedSecret: Uint8Array;
  readonly secretFingerprint: string;
  /** The secret before this one, as long as both sign. */
  readonly previousSecret: PreviousSecret | undefined;
  /** Set: it hears of one run alone, and is told in the words of a mount. */
  readonly push?: PushTarget;
  readonly createdAt: number;
}

export type SignatureAlgorithm = 'v1' | 'standard-webhooks-1';

/**
 * Where a subscription stands. `active` is delivered to; `paused` keeps what comes and delivers nothing; `failed` and
 * `dead-lettered` are delivered to no more, and what comes goes straight to the dead letters. From those two only registering again
 * leads out.
 *
 * @see Interface: States and transitions, Durable subscription
 */
export type SubscriptionStatus = 'active' | 'paused' | 'failed' | 'dead-lettered';

/**
 * The circuit of a best-effort subscription. It is a value; the functions below are its whole behaviour.
 *
 * @see Interface: Webhook delivery circuit
 */
export type Circuit =
  | { readonly state: 'closed'; readonly consecutiveFailures: number }
  | { readonly state: 'open'; readonly until: number }
  /** One attempt is out to learn whether the receiver is back; its claim ends at `until` if the host dies meanwhile. */
  | { readonly state: 'half-open'; readonly until: number };

/** What a subscription is that pushes one run. */
export interface PushTarget {
  readonly runId: string;
  /** The name that its owner knows it by, among the pushes of the run. */
  readonly name: string;
  readonly format: string;
}

/** A secret that was replaced, and is good until `expiresAt`; times in ms. */
export interface PreviousSecret {
  readonly sealed: Uint8Array;
  readonly replacedAt: number;
  readonly expiresAt: number;
}

/** The part of a subscription that a rotation changes. */
export type SubscriptionSecrets = Pick<Subscription, 'sealedSecret' | 'secretFingerprint' | 'previousSecret'>;

/** The part of a subscription that the outcome of an attempt may change. */
export type SubscriptionState = Pick<Subscription, 'status' | 'circuit' | 'failures'>;

/**
 * How long a host may begin attempts on what it has read of a subscription. Where hosts share a store, a removal is answered only
 * when whatever the others had read before it has become too old.
 */
export const READING_GOOD_FOR_MS = 500;

/** What subscriptions listen to. */
export type Topic = Pick<Run, 'runId' | 'tenant' | 'mode' | 'workspace'> & { readonly eventType: string };

export interface SubscriptionStore {
  insert(subscription: Subscription, transaction: Transaction): Promise<void>;
  /**
   * Removes a subscription of the caller's tenant and mode whose whole scope the caller reaches, with every delivery that was
   * waiting for it.
   */
  remove(tenancy: Tenancy, webhookId: string, transaction: Transaction): Promise<Lookup<Subscription>>;
  /**
   * Of each topic the subscriptions of its tenant and mode that ask for its event type. Scope and tags are judged by `match.ts`.
   */
  listening(topics: readonly Topic[], transaction: Transaction): Promise<readonly (readonly Subscription[])[]>;
  /** Those that push this run, of any name. Holding the run is what permits it. */
  pushesOf(run: Run, transaction: Transaction): Promise<readonly Subscription[]>;
  /** A subscription that the caller manages: of its tenant and mode, and wholly within its reach. */
  find(tenancy: Tenancy, webhookId: string): Promise<Lookup<Subscription>>;
  /** Those that the caller manages, by their ids, those after `after` only. */
  list(tenancy: Tenancy, page: { readonly after: string; readonly limit: number }): Promise<readonly Subscription[]>;
  /** For the dispatcher, which acts for no caller. */
  read(webhookId: string): Promise<Subscription | undefined>;
  /** Replaces the health by `change` of what it is inside the transaction. Nothing happens when the subscription is gone. */
  updateState(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionState,
    transaction: Transaction,
  ): Promise<void>;
  /** The same for its secrets. */
  updateSecrets(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionSecrets,
    transaction: Transaction,
  ): Promise<void>;
  /** Deletes up to `limit` previous secrets that expired by `now`; returns how many there were. */
  forgetExpiredSecrets(now: number, limit: number): Promise<number>;
  /** Everybody's by their ids, those after `after` only: for the host itself, which acts for no caller. */
  page(page: { readonly after: string; readonly limit: number }): Promise<readonly Subscription[]>;
}

/** Whether a caller reaches everything that a subscription hears of, as managing it requires. */
export function coversScope(
  tenancy: Pick<Tenancy, 'workspaces'>,
  { workspaces }: Pick<Subscription, 'workspaces'>,
): boolean {
  if (tenancy.workspaces === 'all') return true;
  if (workspaces === 'all') return false;
  const reached = tenancy.workspaces;
  return workspaces.every((workspace) => reached.includes(workspace));
}
