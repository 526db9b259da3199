import type { Major } from '@svc/versioning';
import { bindId } from '@svc/versioning/ids';
import { isStandardSecret } from '@svc/webhook-verify/standard-webhooks';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { SignatureAlgorithm, Subscription } from '../ports/subscriptions.ts';
import type { Registered, Registration } from '../webhooks/register.ts';
import type { Rotated } from '../webhooks/rotate.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import { storedName } from './schemas.ts';

const URL_TEXT = z.string().min(1);
const TAGS = z.array(z.string().min(1).max(256)).max(100).optional();
const SECRET = z
  .string()
  .max(512)
  .refine((secret) => new TextEncoder().encode(secret).length >= 24, 'must be at least 24 bytes')
  .refine((secret) => secret.trim() === secret, 'must not begin or end with white space');

/** The rules of a host for registrations. */
export interface RegistrationRules {
  /** Whether a registration in major 1 may omit `tenantId`, as clients of older documents do. */
  readonly tenantIdOptional: boolean;
  /**
   * The signature algorithms of deliveries in major 2. Major 1 always has `v1` alone: its callers
   * supply no secret.
   */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** The event types that can be subscribed to. */
  readonly subscribable: SubscribableEvents;
}

/**
 * The schema of the body of a registration. Parses into the request of the domain.
 *
 * @see Interface: Webhook subscription
 */
export function registrationSchema(rules: RegistrationRules): Readonly<Record<Major, z.ZodType<Registration>>> {
  const workspace = storedName(128);
  return {
    1: z
      .strictObject({
        url: URL_TEXT,
        events: eventsOf(1, rules),
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
        events: eventsOf(2, rules),
        tags: TAGS,
        secret: SECRET.optional(),
        signatureAlgorithms: algorithmsOf(rules.signatureAlgorithms),
      })
      .refine(
        ({ secret = '', signatureAlgorithms }) =>
          !signatureAlgorithms.includes('standard-webhooks-1') || isStandardSecret(secret),
        { path: ['secret'], error: `${STANDARD_FORM} for standard-webhooks-1` },
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

/** The body of an edit of a subscription in a major. An absent member stays; `null` removes the description. */
export function editSchema(major: Major, rules: Pick<RegistrationRules, 'subscribable'>) {
  return z
    .strictObject({
      events: eventsOf(major, rules).optional(),
      tags: TAGS,
      description: z.string().min(1).max(512).nullable().optional(),
    })
    .refine((edit) => Object.keys(edit).length > 0, 'must have events, tags or description');
}

const STANDARD_FORM = 'must be whsec_ followed by the base64 of 24 to 64 bytes';

/** The signature algorithms of a subscription: `v1`, and any other that the host serves in the major. */
function algorithmsOf(served: readonly SignatureAlgorithm[]): z.ZodType<readonly SignatureAlgorithm[]> {
  return z
    .array(z.enum(served, { error: `must be one of ${served.join(', ')}` }))
    .max(16)
    .refine((asked) => asked.includes('v1'), 'must contain v1')
    .refine((asked) => new Set(asked).size === asked.length, 'must not repeat an entry')
    .default(['v1'])
    .describe(
      'The signatures of deliveries; `v1` is required. `standard-webhooks-1` makes the host verify the endpoint first.',
    );
}

/** Event types of the major that the host can send. Parses into their stored names, without duplicates. */
function eventsOf(
  major: Major,
  { subscribable }: Pick<RegistrationRules, 'subscribable'>,
): z.ZodType<readonly string[]> {
  const name = z.string().transform((given, context) => {
    const named = subscribable.named(major, given);
    if ('type' in named) return named.type;
    context.addIssue({ code: 'custom', message: named.problem, input: given });
    return z.NEVER;
  });
  return z
    .array(name)
    .min(1)
    .max(500)
    .transform((types) => [...new Set(types)]);
}

/** The id of a subscription in the form of a major, for responses and for the id header of deliveries. */
export const webhookIdOf: Readonly<
  Record<Major, (subscription: Pick<Subscription, 'tenant' | 'webhookId'>) => string>
> = {
  1: ({ webhookId }) => webhookId,
  2: ({ tenant, webhookId }) => bindId(tenant, webhookId),
};

/** The response to a registration. Only this response has the secret, and in major 2 only if the host generated it. */
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

/** The schema of the response to a registration. */
export const registeredWebhook: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({
      webhookId: WEBHOOK_ID[1],
      secret: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('The secret that signs every delivery. Only this response has it.'),
      secretFingerprint: z.string().regex(/^[0-9a-f]{8}$/),
    })
    .meta({ id: 'RegisteredWebhook' }),
  2: z
    .strictObject({
      webhookId: WEBHOOK_ID[2],
      secret: z
        .string()
        .optional()
        .describe(
          'The secret that signs every delivery. Only this response has it. Absent if the request supplied it.',
        ),
    })
    .meta({ id: 'RegisteredWebhook' }),
};

export const registrationExample: Readonly<Record<Major, JsonObject>> = {
  1: { url: 'https://hooks.example.org/svc', events: ['run.completed', 'run.failed'], tenantId: 'acme-prod' },
  2: { url: 'https://hooks.example.org/svc', events: ['run.completed', 'run.failed'] },
};

/** The schema of the body of a rotation: the new secret. */
export const rotation: z.ZodType<{ secret: string }> = z.strictObject({
  secret: z
    .string()
    .max(512)
    .refine(isStandardSecret, STANDARD_FORM)
    .describe('The new secret: `whsec_` followed by the base64 of the key, which has 24 to 64 bytes.'),
});

/** The response to a rotation, in both majors. It has no secret. */
export function rotatedBody({ rotatedAt, previousSecretExpiresAt }: Rotated): JsonObject {
  return {
    rotatedAt: new Date(rotatedAt).toISOString(),
    previousSecretExpiresAt: new Date(previousSecretExpiresAt).toISOString(),
  };
}

/** The schema of the response to a rotation. */
export const rotatedSecret: z.ZodType = z
  .strictObject({ rotatedAt: z.iso.datetime(), previousSecretExpiresAt: z.iso.datetime() })
  .meta({ id: 'RotatedSecret' });

export const rotationExample: JsonObject = { secret: 'whsec_YW4gZXhhbXBsZSB3aXRoIDI0IGJ5dGVz' };
