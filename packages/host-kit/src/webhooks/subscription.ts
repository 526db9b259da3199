import type { Major } from '@svc/versioning';
import type { Circuit } from './circuit.ts';
import type { PushTarget } from './push-target.ts';
import type { SubscriptionStatus } from './state.ts';

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

/** A secret that was replaced, and is good until `expiresAt`; times in ms. */
export interface PreviousSecret {
  readonly sealed: Uint8Array;
  readonly replacedAt: number;
  readonly expiresAt: number;
}

/** The part of a subscription that a rotation changes. */
export type SubscriptionSecrets = Pick<Subscription, 'sealedSecret' | 'secretFingerprint' | 'previousSecret'>;

/** The part of a subscription that the outcome of an attempt may change. */
export type SubscriptionHealth = Pick<Subscription, 'status' | 'circuit' | 'failures'>;
