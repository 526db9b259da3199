import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { AttemptRecord } from '../webhooks/attempt-log.ts';
import type { Subscription } from '../webhooks/subscription.ts';

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

export function attemptView({ at, status, reason, webhookId: _, ...attempt }: AttemptRecord): JsonObject {
  return {
    ...attempt,
    at: new Date(at).toISOString(),
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason }),
  };
}

/** Some dead letters by their ids, or all. */
export const redriveRequest: z.ZodType<{ deliveryIds?: string[] | undefined }> = z.strictObject({
  deliveryIds: z.array(z.string().min(1).max(256)).min(1).max(500).optional(),
});
