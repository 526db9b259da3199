import type { Major } from '@svc/versioning';
import { storedEventName } from '@svc/versioning/events';
import { bindId } from '@svc/versioning/ids';
import { EVENT_TYPES_V1, EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { isStandardSecret } from '@svc/webhook-verify/standard-webhooks';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { SignatureAlgorithm, Subscription } from '../ports/subscriptions.ts';
import type { Registered, Registration } from '../webhooks/register.ts';
import type { Rotated } from '../webhooks/rotate.ts';

const VOCABULARY: Readonly<Record<Major, ReadonlySet<string>>> = { 1: EVENT_TYPES_V1, 2: EVENT_TYPES_V2 };

const URL_TEXT = z.string().min(1);
const TAGS = z.array(z.string().min(1).max(256)).max(100).optional();
const SECRET = z
  .string()
  .max(512)
  .refine((secret) => new TextEncoder().encode(secret).length >= 24, 'must be at least 24 bytes')
  .refine((secret) => secret.trim() === secret, 'must not begin or end with white space');

export interface RegistrationRules {
  /** Whether major 1 may leave the workspace out, as clients of older documents do. */
  readonly tenantIdOptional: boolean;
  /** What deliveries may be signed by. Major 1 takes no secret from its callers, so it has `v1` alone. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
}

/** The registration body of a major, as what it asks for. @see Interface: Webhook subscription */
export function registrationSchema(rules: RegistrationRules): Readonly<Record<Major, z.ZodType<Registration>>> {
  const workspace = z.string().min(1).max(128);
  return {
    1: z
      .strictObject({
        url: URL_TEXT,
        events: eventsOf(1),
        tags: TAGS,
        tenantId: rules.tenantIdOptional ? workspace.optional() : workspace,
        signatureAlgorithms: algorithmsOf(['v1']),
      })
      .transform(({ url, events, tags = [], tenantId, signatureAlgorithms }) => ({
        url,
        events,
        tags,
        secret: undefined,
        signatureAlgorithms,
        workspace: tenantId,
      })),
    2: z
      .strictObject({
        url: URL_TEXT,
        events: eventsOf(2),
        tags: TAGS,
        secret: SECRET.optional(),
        signatureAlgorithms: algorithmsOf(rules.signatureAlgorithms),
      })
      .refine(
        ({ secret = '', signatureAlgorithms }) =>
          !signatureAlgorithms.includes('standard-webhooks-1') || isStandardSecret(secret),
        { path: ['secret'], error: `for standard-webhooks-1 ${STANDARD_FORM}` },
      )
      .transform(({ url, events, tags = [], secret, signatureAlgorithms }) => ({
        url,
        events,
        tags,
        secret,
        signatureAlgorithms,
        workspace: undefined,
      })),
  };
}

const STANDARD_FORM = 'must be whsec_ and the base64 of 24 to 64 bytes';

/** Which signatures a subscription wants: `v1`, and no other that the host does not have in that major. */
function algorithmsOf(served: readonly SignatureAlgorithm[]): z.ZodType<readonly SignatureAlgorithm[]> {
  return z
    .array(z.enum(served, { error: `must be one of ${served.join(', ')}` }))
    .max(16)
    .refine((asked) => asked.includes('v1'), 'must contain v1')
    .refine((asked) => new Set(asked).size === asked.length, 'must not repeat an entry')
    .default(['v1'])
    .describe('What deliveries are signed by. For `standard-webhooks-1` the endpoint is asked first.');
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

/** The body of a rotation: the secret that takes over. */
export const rotation: z.ZodType<{ secret: string }> = z.strictObject({
  secret: z
    .string()
    .max(512)
    .refine(isStandardSecret, STANDARD_FORM)
    .describe('`whsec_` and the base64 of 24 to 64 bytes, which are the key.'),
});

/** The answer to a rotation, in both majors. It repeats no secret. */
export function rotatedBody({ rotatedAt, previousSecretExpiresAt }: Rotated): JsonObject {
  return {
    rotatedAt: new Date(rotatedAt).toISOString(),
    previousSecretExpiresAt: new Date(previousSecretExpiresAt).toISOString(),
  };
}

/** The schema of that answer. */
export const rotatedSecret: z.ZodType = z
  .strictObject({ rotatedAt: z.iso.datetime(), previousSecretExpiresAt: z.iso.datetime() })
  .meta({ id: 'RotatedSecret' });

export const rotationExample: JsonObject = { secret: 'whsec_YW4gZXhhbXBsZSB3aXRoIDI0IGJ5dGVz' };
