import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { Subscription } from '../ports/subscriptions.ts';

/** A subscription as its operator sees it: everything but the secret. The URL is the subscriber's own, and shown without its query. */
export function operatorView(subscription: Subscription): JsonObject {
  const { webhookId, mode, major, url, events, tags, durable, status, circuit, workspaces } = subscription;
  return {
    webhookId,
    mode,
    major,
    url: url.split('?', 1)[0] ?? url,
    events: [...events],
    tags: [...tags],
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
    signatureAlgorithms: [...subscription.signatureAlgorithms],
    secretFingerprint: subscription.secretFingerprint,
    ...(subscription.previousSecret !== undefined && {
      previousSecretExpiresAt: new Date(subscription.previousSecret.expiresAt).toISOString(),
    }),
    ...(subscription.push !== undefined && { pushes: subscription.push.runId }),
    createdAt: new Date(subscription.createdAt).toISOString(),
  };
}

/**
 * An attempt as the operator of a tenant sees it. What is denied, does not resolve or does not answer looks the same here, because it
 * would tell what of the inside a name points at; the host's log has the reason.
 */
export function attemptView({ at, status, outcome, reason, webhookId: _, ...attempt }: AttemptRecord): JsonObject {
  const isUnavailable = outcome === 'denied' || (outcome === 'failed' && UNAVAILABLE.has(reason ?? ''));
  const shown = isUnavailable ? 'unavailable' : reason;
  return {
    ...attempt,
    // There is one delivery of an event to a subscription, so its id tells its attempts from those of all others; a redrive keeps it.
    dedupKey: attempt.deliveryId,
    at: new Date(at).toISOString(),
    outcome: outcome === 'denied' ? 'failed' : outcome,
    ...(status !== undefined && { status }),
    ...(shown !== undefined && { reason: shown }),
  };
}

const UNAVAILABLE: ReadonlySet<string> = new Set(['dns', 'connect']);

/** Some dead letters by their ids, or all. */
export const redriveRequest: z.ZodType<{ deliveryIds?: string[] | undefined }> = z.strictObject({
  deliveryIds: z.array(z.string().min(1).max(256)).min(1).max(500).optional(),
});
