import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { Subscription } from '../ports/subscriptions.ts';

const TIME = z.iso.datetime();

const CIRCUIT = z.object({
  state: z.enum(['closed', 'open', 'half-open']),
  consecutiveFailures: z.int().min(0).optional().describe('Failures in a row. Present while the circuit is closed.'),
  until: TIME.optional().describe('The end of the cooldown. Absent while the circuit is closed.'),
});

/** The schema of a subscription as an operator sees it. */
export const operatorWebhook: z.ZodObject = z
  .object({
    webhookId: z.string(),
    mode: z.enum(['live', 'test']),
    major: z.literal([1, 2]).describe('The major under which it was registered.'),
    url: z.string().describe('The URL of the receiver, without its query.'),
    events: z.array(z.string()),
    tags: z.array(z.string()),
    description: z.string().optional().describe('The note of the owner.'),
    workspaces: z.array(z.string()).describe('The workspaces whose runs it follows. `*`: all of the tenant.'),
    durable: z.boolean().describe('Whether failed deliveries are retried and dead-lettered.'),
    state: z.string(),
    circuit: CIRCUIT,
    recentFailures: z.int().min(0).describe('Failures within the window of the failure limit.'),
    failingSince: TIME.optional().describe('The first failed attempt since the last success. Absent: none has failed.'),
    signatureAlgorithms: z.array(z.string()),
    secretFingerprint: z.string(),
    previousSecretExpiresAt: TIME.optional().describe('The end of the time in which the replaced secret still signs.'),
    pushes: z.string().optional().describe('The run that it follows, if a mount pushes it.'),
    createdAt: TIME,
  })
  .meta({ id: 'OperatorWebhook' });

/** The schema of a page of subscriptions. */
export const operatorWebhooks: z.ZodType = z
  .object({
    webhooks: z.array(operatorWebhook),
    nextAfter: z.string().optional().describe('The `after` of the next page. Absent on the last one.'),
  })
  .meta({ id: 'OperatorWebhooks' });

/** The schema of an attempt. */
export const operatorAttempt: z.ZodObject = z
  .object({
    deliveryId: z.string(),
    dedupKey: z.string().describe('Equal for every attempt to deliver one event to one subscription.'),
    runId: z.string(),
    sequence: z.int().min(0).describe('The sequence of the event in the log of its run.'),
    eventType: z.string(),
    attempt: z.int().min(1).describe('The number of the attempt among those of its delivery.'),
    at: TIME.describe('The end of the attempt.'),
    durationMs: z.number().min(0),
    outcome: z.enum(['delivered', 'failed', 'skipped']),
    status: z.int().optional().describe('The HTTP status of the receiver. Absent: it did not answer.'),
    reason: z.string().optional().describe('The reason of an attempt without an answer, such as `timeout`.'),
    phases: z
      .array(
        z.object({
          phase: z.enum(['resolve', 'connect', 'tls', 'request', 'response']),
          durationMs: z.number().min(0),
        }),
      )
      .optional()
      .describe('The phases of the attempt. The last one is the phase in which it ended.'),
  })
  .meta({ id: 'Attempt' });

/** The schema of a subscription with its last attempts. */
export const operatorWebhookDetails: z.ZodType = operatorWebhook
  .extend({ lastAttempts: z.array(operatorAttempt).describe('The last attempts, newest first.') })
  .meta({ id: 'OperatorWebhookDetails' });

/** The schema of the response to a redrive. */
export const redriven: z.ZodType = z
  .object({ redriven: z.int().min(0).describe('The number of deliveries that are tried again.') })
  .meta({ id: 'Redriven' });

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
