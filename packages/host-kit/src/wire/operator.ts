import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { Subscription } from '../ports/subscriptions.ts';

/**
 * A subscription for its operator. The secret is left out, and so is the query of the URL: it may hold a credential.
 */
export function operatorView(subscription: Subscription): JsonObject {
  const { webhookId, mode, major, events, tags, durable, status, circuit, workspaces, outage } = subscription;
  return {
    webhookId,
    mode,
    major,
    url: shownUrl(subscription),
    events: [...events],
    tags: [...tags],
    ...(subscription.description !== undefined && { description: subscription.description }),
    workspaces: workspaces === 'all' ? ['*'] : [...workspaces],
    durable,
    state: status,
    circuit: {
      state: circuit.state,
      ...(circuit.state === 'closed'
        ? { consecutiveFailures: circuit.consecutiveFailures }
        : { until: new Date(circuit.until).toISOString() }),
    },
    recentFailures: subscription.failures.length,
    ...(outage !== undefined && { failingSince: new Date(outage.since).toISOString() }),
    signatureAlgorithms: [...subscription.signatureAlgorithms],
    secretFingerprint: subscription.secretFingerprint,
    ...(subscription.previousSecret !== undefined && {
      previousSecretExpiresAt: new Date(subscription.previousSecret.expiresAt).toISOString(),
    }),
    ...(subscription.push !== undefined && { pushes: subscription.push.runId }),
    createdAt: new Date(subscription.createdAt).toISOString(),
  };
}

/** The URL of a subscription without its query, which may hold a credential. */
export function shownUrl({ url }: Pick<Subscription, 'url'>): string {
  return url.split('?', 1)[0] ?? url;
}

/**
 * An attempt for the operator of a tenant. A denied address, a failed resolution and a failed connection all have the
 * reason `unavailable`: different reasons would let a tenant map the internal network. The log of the host has the real
 * reason.
 */
export function attemptView({ phases, ...record }: AttemptRecord): JsonObject {
  const { at, status, outcome, reason, webhookId: _, ...attempt } = record;
  const isUnavailable = outcome === 'denied' || (outcome === 'failed' && UNAVAILABLE.has(reason ?? ''));
  const shown = isUnavailable ? 'unavailable' : reason;
  return {
    ...attempt,
    // All attempts to deliver one event to one subscription have the same delivery id, after a redrive too.
    dedupKey: attempt.deliveryId,
    at: new Date(at).toISOString(),
    outcome: outcome === 'denied' ? 'failed' : outcome,
    ...(status !== undefined && { status }),
    ...(shown !== undefined && { reason: shown }),
    // The phases of an unavailable address would tell the same as its reason.
    ...(phases !== undefined && !isUnavailable && { phases: phases.map((phase) => ({ ...phase })) }),
  };
}

const UNAVAILABLE: ReadonlySet<string> = new Set(['dns', 'connect']);

/** The schema of the body of a redrive: the ids of some dead letters. Without them all are redriven. */
export const redriveRequest: z.ZodType<{ deliveryIds?: string[] | undefined }> = z.strictObject({
  deliveryIds: z.array(z.string().min(1).max(256)).min(1).max(500).optional(),
});
