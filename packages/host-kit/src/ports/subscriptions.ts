import type { Tenancy } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { Lookup } from '../lookup.ts';
import type { Outage } from './outage.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** A registered webhook: one receiver of the events of one tenant, in one mode. */
export interface Subscription {
  /** Unique in the store, without the tenant-bound form that major 2 shows to callers. */
  readonly webhookId: string;
  readonly tenant: string;
  /** The workspaces whose runs it receives events of. Fixed at its registration. */
  readonly workspaces: 'all' | readonly string[];
  readonly mode: 'live' | 'test';
  /** The protocol major that it was registered under. Its deliveries use the vocabulary of this major. */
  readonly major: Major;
  /** The receiver's URL. */
  readonly url: string;
  /** Event types that it receives, in the stored vocabulary (that of major 2) for either `major`. */
  readonly events: readonly string[];
  /** Receives only events of runs that carry at least one of these tags. Empty: of all runs. */
  readonly tags: readonly string[];
  /** The owner's note about it. Absent: none. */
  readonly description?: string | undefined;
  /** True: failed deliveries are retried and end as dead letters. False: one attempt an event, behind a circuit. */
  readonly durable: boolean;
  readonly status: SubscriptionStatus;
  /** Always closed for a durable subscription. */
  readonly circuit: Circuit;
  /** Times of recent failures in ms since the epoch, oldest first; at most as many as the failure limit. */
  readonly failures: readonly number[];
  /** Its current outage. Absent: no attempt has failed since the last success. */
  readonly outage?: Outage | undefined;
  /** Signature algorithms that its deliveries carry: `v1`, and the others that its registration asked for. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** The signing secret, encrypted (`sealing/secret-box.ts`). */
  readonly sealedSecret: Uint8Array;
  /** Identifies the signing secret to its owner without revealing it. */
  readonly secretFingerprint: string;
  /** The former signing secret after a rotation. Both secrets sign until it expires. */
  readonly previousSecret: PreviousSecret | undefined;
  /** Set for a push subscription: it receives events of one run alone, in the format of the mount that created it. */
  readonly push?: PushTarget;
  /** In ms since the epoch. */
  readonly createdAt: number;
}

/** An algorithm that deliveries are signed with. */
export type SignatureAlgorithm = 'v1' | 'standard-webhooks-1';

/**
 * State of a subscription. `active`: events are delivered. `paused`: deliveries wait, and none is attempted. `failed`
 * and `dead-lettered`: nothing is attempted any more, and new deliveries become dead letters at once; the receiver has
 * to register again.
 *
 * @see Interface: States and transitions, Durable subscription
 */
export type SubscriptionStatus = 'active' | 'paused' | 'failed' | 'dead-lettered';

/**
 * Circuit breaker of a best-effort subscription, as a value. `webhooks/circuit.ts` has its transitions. `until` is in
 * ms since the epoch.
 *
 * @see Interface: Webhook delivery circuit
 */
export type Circuit =
  /** Attempts are made. */
  | { readonly state: 'closed'; readonly consecutiveFailures: number }
  /** No attempt is made before `until`; events are dropped. */
  | { readonly state: 'open'; readonly until: number }
  /** One attempt is under way to probe the receiver. If its host dies, another probe may start at `until`. */
  | { readonly state: 'half-open'; readonly until: number };

/** The target of a push subscription. */
export interface PushTarget {
  /** The run whose events are pushed. */
  readonly runId: string;
  /** The owner's name for this subscription, unique among the push subscriptions of the run. */
  readonly name: string;
  /** Name of the delivery format, which its mount defines. */
  readonly format: string;
}

/** A signing secret that was replaced by a rotation. Times are in ms since the epoch. */
export interface PreviousSecret {
  /** The secret, encrypted. */
  readonly sealed: Uint8Array;
  readonly replacedAt: number;
  /** It signs no delivery from this time on. */
  readonly expiresAt: number;
}

/** The fields of a subscription that a secret rotation changes. */
export type SubscriptionSecrets = Pick<Subscription, 'sealedSecret' | 'secretFingerprint' | 'previousSecret'>;

/** The fields of a subscription that its owner edits. */
export type SubscriptionDetails = Pick<Subscription, 'events' | 'tags' | 'description'>;

/** The fields of a subscription that the outcome of an attempt, or an operator, changes. */
export type SubscriptionState = Pick<Subscription, 'status' | 'circuit' | 'failures' | 'outage'>;

/** The place of an event about a subscription, which belongs to no run. */
export interface EventNumber {
  /** An id in the form of run ids. There is no such run. */
  readonly runId: string;
  readonly sequence: number;
}

/**
 * Maximum age in ms of the copy of a subscription with which a host begins an attempt. Where hosts share a store, a
 * removal is answered after this time, so that no other host begins an attempt from an older copy afterwards.
 */
export const READING_GOOD_FOR_MS = 500;

/** An event type of a run: the unit that subscriptions are looked up by. `eventType` is in the stored vocabulary. */
export type Topic = Pick<Run, 'runId' | 'tenant' | 'mode' | 'workspace'> & { readonly eventType: string };

/**
 * Subscriptions. A caller manages a subscription if tenant and mode are its own and it reaches every workspace of the
 * subscription (`coversScope`); methods that take a `Tenancy` apply this rule. Ids sort by their bytes.
 */
export interface SubscriptionStore {
  /** Adds a subscription. */
  insert(subscription: Subscription, transaction: Transaction): Promise<void>;
  /**
   * Deletes a subscription that the caller manages and returns it. Its deliveries, dead letters and attempts are
   * deleted with it. A store may leave some of them to `DeliveryQueue.sweep`, but claims none of them after the commit.
   */
  remove(tenancy: Tenancy, webhookId: string, transaction: Transaction): Promise<Lookup<Subscription>>;
  /**
   * Returns for each topic, in the same order, the subscriptions of its tenant and mode that name its event type. The
   * caller filters by workspace, tags and pushed run (`webhooks/match.ts`), so a store may leave out subscriptions of
   * other workspaces and runs.
   */
  listening(topics: readonly Topic[], transaction: Transaction): Promise<readonly (readonly Subscription[])[]>;
  /** Returns the push subscriptions of a run. Trusts its caller to have the right to the run. */
  pushesOf(run: Run, transaction: Transaction): Promise<readonly Subscription[]>;
  /** Returns a subscription that the caller manages. */
  find(tenancy: Tenancy, webhookId: string): Promise<Lookup<Subscription>>;
  /**
   * Returns up to `limit` subscriptions that the caller manages, by ascending id, after the id `after` (`''`: from the
   * first).
   */
  list(tenancy: Tenancy, page: { readonly after: string; readonly limit: number }): Promise<readonly Subscription[]>;
  /** Returns any tenant's subscription. For the dispatcher; never on behalf of a caller. */
  read(webhookId: string): Promise<Subscription | undefined>;
  /**
   * Replaces status, circuit, failures and outage by the result of `change`, which gets the subscription as it is in this
   * transaction. `change` is called once, or not at all when the subscription does not exist.
   */
  updateState(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionState,
    transaction: Transaction,
  ): Promise<void>;
  /**
   * Replaces the secrets by the result of `change`, which gets the subscription as it is in this transaction. `change`
   * is called once, or not at all when the subscription does not exist.
   */
  updateSecrets(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionSecrets,
    transaction: Transaction,
  ): Promise<void>;
  /**
   * Replaces event types, tags and description by the result of `change`, which gets the subscription as it is in this
   * transaction. `change` is called once, or not at all when the subscription does not exist.
   */
  updateDetails(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionDetails,
    transaction: Transaction,
  ): Promise<void>;
  /**
   * Numbers an event about a subscription. All events about one subscription have the same run id, and their sequences
   * rise by one from 0.
   *
   * @param runId the run id for the first of these events; later calls return that of the first
   * @returns undefined when the subscription does not exist
   */
  numberEvent(webhookId: string, runId: string, transaction: Transaction): Promise<EventNumber | undefined>;
  /** Deletes up to `limit` previous secrets whose `expiresAt` is at or before `now`. Returns their number. */
  forgetExpiredSecrets(now: number, limit: number): Promise<number>;
  /**
   * Returns up to `limit` subscriptions of all tenants by ascending id, after the id `after` (`''`: from the first).
   * For the host's own tasks; never on behalf of a caller.
   */
  page(page: { readonly after: string; readonly limit: number }): Promise<readonly Subscription[]>;
}

/**
 * Returns true when a caller reaches every workspace of a subscription, which managing it requires.
 *
 * @example
 * import { coversScope } from '@svc/host-kit/ports';
 *
 * console.log(coversScope({ workspaces: ['a', 'b'] }, { workspaces: ['a'] })); // true
 * console.log(coversScope({ workspaces: ['a'] }, { workspaces: 'all' })); // false
 */
export function coversScope(
  tenancy: Pick<Tenancy, 'workspaces'>,
  { workspaces }: Pick<Subscription, 'workspaces'>,
): boolean {
  if (tenancy.workspaces === 'all') return true;
  if (workspaces === 'all') return false;
  const reached = tenancy.workspaces;
  return workspaces.every((workspace) => reached.includes(workspace));
}
