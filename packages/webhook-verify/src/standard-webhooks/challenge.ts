import { deliveryOf, malformedBody, parseJson } from '../delivery.ts';
import { WebhookVerificationError } from '../errors.ts';
import { HEADER_NAMES, type HeaderSource, headerReader } from '../headers.ts';
import type { Verifier } from '../receive.ts';
import { StandardWebhook, type StandardWebhookOptions } from './verify.ts';

/** The event type of the endpoint verification, the request that a host sends before it accepts a subscription. */
export const VERIFICATION_TYPE = 'svc.webhook.verification';

/**
 * Makes the `verifier` of a receiver for a subscription that is signed by `standard-webhooks-1`. It also answers the
 * endpoint verification, so the receiver must listen before the subscription is registered.
 *
 * @throws {TypeError} when a secret is not `whsec_` and the base64 of 24 to 64 bytes, or an option is invalid
 * @example
 * import { receiver } from '@svc/webhook-verify/fetch';
 * import { standardVerifier } from '@svc/webhook-verify/standard-webhooks';
 *
 * const verifier = standardVerifier(process.env.WEBHOOK_SECRET ?? '');
 * export const POST = receiver({ verifier, onDelivery: ({ eventType }) => console.log(eventType) });
 */
export function standardVerifier(secret: string | readonly string[], options: StandardWebhookOptions = {}): Verifier {
  const webhook = new StandardWebhook(secret, options);
  return {
    safeVerify(body, headers) {
      try {
        const { timestamp } = webhook.verifySignature(body, headers);
        const content = parseJson(body);
        const challenge = challengeIn(content);
        if (challenge !== undefined) return { ok: true, challenge };
        const claims = claimsOf(headers);
        if (options.webhookId !== undefined && claims.webhookId !== options.webhookId) {
          throw new WebhookVerificationError('webhook_id_mismatch', undefined);
        }
        return { ok: true, delivery: deliveryOf(content, claims, timestamp) };
      } catch (error) {
        if (WebhookVerificationError.is(error)) return { ok: false, error };
        throw error;
      }
    },
  };
}

/** Reads the challenge from the signed body alone, so that only the holder of the secret can have a text repeated. */
function challengeIn(content: unknown): string | undefined {
  if (typeof content !== 'object' || content === null || !('type' in content)) return undefined;
  if (content.type !== VERIFICATION_TYPE) return undefined;
  const challenge = 'challenge' in content ? content.challenge : undefined;
  if (typeof challenge !== 'string' || !/^[A-Za-z0-9_-]{16,512}$/.test(challenge)) {
    throw malformedBody('challenge is not 16 to 512 characters of base64url');
  }
  return challenge;
}

const { SVC, 'X-svc': X_SVC } = HEADER_NAMES;

const readClaims = headerReader([SVC.webhookId, X_SVC.webhookId, SVC.eventType, X_SVC.eventType]);

/** Reads the delivery headers beside the three standard ones. The two families must agree with each other. */
function claimsOf(headers: HeaderSource): { webhookId: string; eventType: string | undefined } {
  const [id, oldId, type, oldType] = readClaims(headers);
  if (id !== undefined && oldId !== undefined && id !== oldId) throw mismatch(SVC.webhookId);
  if (type !== undefined && oldType !== undefined && type !== oldType) throw mismatch(SVC.eventType);
  const webhookId = id ?? oldId;
  if (webhookId === undefined) {
    throw new WebhookVerificationError('missing_header', { header: SVC.webhookId });
  }
  return { webhookId, eventType: type ?? oldType };
}

function mismatch(header: string): WebhookVerificationError {
  return new WebhookVerificationError('header_mismatch', { header });
}
