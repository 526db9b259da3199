import type { Major } from '@svc/versioning';
import { storedEventName } from '@svc/versioning/events';
import { bindId } from '@svc/versioning/ids';
import { EVENT_TYPES_V1, EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Registered, Registration } from '../webhooks/register.ts';
import type { Subscription } from '../webhooks/subscription.ts';

const VOCABULARY: Readonly<Record<Major, ReadonlySet<string>>> = { 1: EVENT_TYPES_V1, 2: EVENT_TYPES_V2 };

const URL_TEXT = z.string().min(1);
const TAGS = z.array(z.string().min(1).max(256)).max(100).optional();
const SECRET = z
  .string()
  .max(512)
  .refine((secret) => new TextEncoder().encode(secret).length >= 24, 'must be at least 24 bytes')
  .refine((secret) => secret.trim() === secret, 'must not begin or end with white space');

/** The registration body of a major, as what it asks for. @see Interface: Webhook subscription */
export const registration: Readonly<Record<Major, z.ZodType<Registration>>> = registrationOf(
  z.string().min(1).max(128),
);

/** The same for clients of older documents, which leave the workspace out in major 1. */
export const lenientRegistration: Readonly<Record<Major, z.ZodType<Registration>>> = registrationOf(
  z.string().min(1).max(128).optional(),
);

function registrationOf(tenantId: z.ZodType<string | undefined>): Readonly<Record<Major, z.ZodType<Registration>>> {
  return {
    1: z.strictObject({ url: URL_TEXT, events: eventsOf(1), tags: TAGS, tenantId }).transform((body) => ({
      url: body.url,
      events: body.events,
      tags: body.tags ?? [],
      secret: undefined,
      workspace: body.tenantId,
    })),
    2: z
      .strictObject({ url: URL_TEXT, events: eventsOf(2), tags: TAGS, secret: SECRET.optional() })
      .transform(({ url, events, tags, secret }) => ({ url, events, tags: tags ?? [], secret, workspace: undefined })),
  };
}

/** Known event types of the major, in the stored vocabulary; repeats collapse. */
function eventsOf(major: Major): z.ZodType<readonly string[]> {
  const known = VOCABULARY[major];
  return z
    .array(z.string().refine((name) => known.has(name), { error: ({ input }) => unknownEvent(major, input) }))
    .min(1)
    .max(500)
    .transform((names) => [...new Set(names.map((name) => storedEventName(major, name) ?? name))]);
}

function unknownEvent(major: Major, input: unknown): string {
  return `"${String(input).slice(0, 128)}" is not an event type of major ${major}`;
}

/** How a major names a subscription, in answers and in the id header of its deliveries. */
export const webhookIdOf: Readonly<
  Record<Major, (subscription: Pick<Subscription, 'tenant' | 'webhookId'>) => string>
> = {
  1: ({ webhookId }) => webhookId,
  2: ({ tenant, webhookId }) => bindId(tenant, webhookId),
};

/** The answer to a registration: the secret is shown this once, and not at all where the caller brought it. */
export const registeredBody: Readonly<Record<Major, (registered: Registered, brought: boolean) => JsonObject>> = {
  1: ({ subscription, secret }) => ({
    webhookId: webhookIdOf[1](subscription),
    secret,
    secretFingerprint: subscription.secretFingerprint,
  }),
  2: ({ subscription, secret }, brought) => ({
    webhookId: webhookIdOf[2](subscription),
    ...(!brought && { secret }),
  }),
};

const WEBHOOK_ID = { 1: z.string().min(1).max(128), 2: z.string().min(1).max(512) } as const;

/** The schema of that answer. */
export const registeredWebhook: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({
      webhookId: WEBHOOK_ID[1],
      secret: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('Signs every delivery. It is shown this once.'),
      secretFingerprint: z.string().regex(/^[0-9a-f]{8}$/),
    })
    .meta({ id: 'RegisteredWebhook' }),
  2: z
    .strictObject({
      webhookId: WEBHOOK_ID[2],
      secret: z
        .string()
        .optional()
        .describe('Signs every delivery. It is shown this once, and not where the request brought it.'),
    })
    .meta({ id: 'RegisteredWebhook' }),
};

export const registrationExample: Readonly<Record<Major, JsonObject>> = {
  1: { url: 'https://hooks.example.org/svc', events: ['run.completed', 'run.failed'], tenantId: 'acme-prod' },
  2: { url: 'https://hooks.example.org/svc', events: ['run.completed', 'run.failed'] },
};
