export type { RawBody } from './body.ts';
export type { Delivery, EventEnvelope, KnownEvent, UnknownEvent, UnknownEventType, WebhookEvent } from './delivery.ts';
export {
  WebhookVerificationError,
  type WebhookVerificationErrorCode,
  type WebhookVerificationErrorDetails,
} from './errors.ts';
export { type DeliveryHeaders, HEADER_NAMES, type HeaderFamily, type HeaderSource } from './headers.ts';
export type { Hmac } from './hmac/hmac.ts';
export { prepareSecret, secretFingerprint } from './secret.ts';
export { type SignDeliveryInput, signDelivery, signWith } from './sign.ts';
export { TOLERANCE_SECONDS } from './timestamp.ts';
export { type SignedBody, type VerifyRules, verifyDelivery, verifySignature } from './verify.ts';
export { type SignedDelivery, type Verification, type VerifyOptions, Webhook, type WebhookOptions } from './webhook.ts';
