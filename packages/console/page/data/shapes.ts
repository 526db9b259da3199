// The records of the API that the page shows, with the members that it reads. The suite `console` holds them to a host.

/** A member with an unknown value, as payloads have them. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface HostStatus {
  readonly ready: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason?: string }[];
  readonly clockAheadMs?: number;
  readonly deliveries?: {
    readonly due: number;
    readonly countedUpTo: number;
    readonly oldestDueAt?: string;
    readonly oldestDueForMs?: number;
  };
}

export interface Webhook {
  readonly webhookId: string;
  readonly major: 1 | 2;
  readonly mode: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  readonly description?: string;
  readonly workspaces: readonly string[];
  readonly durable: boolean;
  readonly state: 'active' | 'paused' | 'failed';
  readonly circuit: { readonly state: string; readonly consecutiveFailures?: number; readonly until?: string };
  readonly recentFailures: number;
  readonly failingSince?: string;
  readonly signatureAlgorithms: readonly string[];
  readonly secretFingerprint: string;
  readonly previousSecretExpiresAt?: string;
  readonly createdAt: string;
}

export interface Attempt {
  readonly deliveryId: string;
  readonly runId: string;
  readonly eventType: string;
  readonly attempt: number;
  readonly at: string;
  readonly durationMs: number;
  readonly outcome: 'delivered' | 'failed' | 'skipped';
  readonly status?: number;
  readonly reason?: string;
  readonly phases?: readonly { readonly phase: string; readonly durationMs: number }[];
}

export interface WebhookDetails extends Webhook {
  readonly lastAttempts: readonly Attempt[];
}

export interface Delivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly eventType: string;
  readonly state: 'waiting' | 'dead-lettered' | 'delivered' | 'failed' | 'skipped';
  readonly attempts: number;
  readonly lastStatus?: number;
  readonly createdAt?: string;
  readonly nextAttemptAt?: string;
  readonly deadLetteredAt?: string;
  readonly expiresAt?: string;
  readonly endedAt?: string;
}

export interface DeliveryDetails extends Delivery {
  readonly lastAttempts: readonly Attempt[];
}

export interface Job {
  readonly jobId: string;
  readonly kind: 'redrive' | 'replay' | 'transfer';
  readonly state: 'running' | 'paused' | 'completed' | 'cancelled' | 'failed';
  readonly rate: number;
  readonly lookedAt: number;
  readonly queued: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Counted {
  readonly matching: number;
  readonly lookedAt: number;
  readonly isComplete: boolean;
}

export interface Run {
  readonly runId: string;
  readonly workflowId: string;
  readonly status: string;
  readonly tags?: readonly string[];
  readonly metadata?: Json;
  readonly currentNodeId?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface RunEvent {
  readonly eventId: string;
  readonly runId: string;
  readonly type: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly payload: Json;
  readonly nodeId?: string;
}

export interface AuditEntry {
  readonly atSequence: number;
  readonly action: string;
  readonly actor: string | null;
  readonly target: string | null;
  readonly occurredAt: string;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
  readonly prevHash: string | null;
  readonly hash: string;
  /** The inclusion proof, when the list was asked for a tree. */
  readonly proof?: readonly string[];
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix?: string;
  readonly state: 'active' | 'expired' | 'revoked';
  readonly source: 'operation' | 'configuration';
  readonly workspaces: readonly string[];
  readonly principal: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  readonly lastUsedAt?: string;
}

export interface Series {
  readonly from: string;
  readonly to: string;
  /** In seconds. */
  readonly step: number;
  readonly latencyBoundsMs: readonly number[];
  readonly points: readonly {
    readonly at: string;
    readonly delivered: number;
    readonly failed: number;
    readonly deadLettered: number;
    readonly skipped: number;
    readonly latency: readonly number[];
  }[];
  /** False: some subscriptions were left out. Absent: the series of one subscription. */
  readonly isComplete?: boolean;
}

export interface LetterFacets extends Counted {
  readonly eventTypes: readonly { readonly type: string; readonly count: number }[];
  readonly statuses: readonly { readonly status: number; readonly count: number }[];
  /** In seconds. */
  readonly step: number;
  readonly times: readonly { readonly at: string; readonly count: number }[];
}

export interface TenantLetterFacets extends LetterFacets {
  readonly subscriptions: readonly { readonly webhookId: string; readonly count: number }[];
}

export interface Role {
  readonly id: string;
  readonly source: 'operation' | 'configuration';
  readonly scopes: readonly string[];
}

export interface Assignment {
  readonly id: string;
  readonly source: 'operation' | 'configuration';
  readonly principal: string;
  readonly workspace: string;
  readonly role: string;
  readonly createdAt: string;
}
