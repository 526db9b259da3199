/** The details of each code. None of them repeats the value of a header, the body or a secret. */
export interface WebhookVerificationErrorDetails {
  /** The name of the missing header. */
  missing_header: { readonly header: string };
  /** The name of the repeated header. */
  repeated_header: { readonly header: string };
  /** The name of the header that contradicts a header of the other family. */
  header_mismatch: { readonly header: string };
  /** No details. */
  webhook_id_mismatch: undefined;
  /** No details. */
  malformed_timestamp: undefined;
  /** The tolerance that was exceeded, in seconds. */
  timestamp_out_of_range: { readonly toleranceSeconds: number };
  /** No details. */
  unknown_algorithm: undefined;
  /** No details. */
  malformed_signature: undefined;
  /** No details. */
  signature_mismatch: undefined;
  /** The first problem of the body, such as `runId is not a non-empty string`. */
  malformed_body: { readonly problem: string };
  /** No details. */
  event_type_mismatch: undefined;
}

/** The rule that a rejected delivery broke. */
export type WebhookVerificationErrorCode = keyof WebhookVerificationErrorDetails;

/** The status of the answer, and the message for the developer of the receiver. The detail of the code stands for `{}`. */
const CODES: Readonly<Record<WebhookVerificationErrorCode, readonly [status: 400 | 401, message: string]>> = {
  missing_header: [400, 'Header {} is missing. Pass all headers of the request, unfiltered.'],
  repeated_header: [400, 'Header {} is repeated with different values. Look for a proxy that adds headers.'],
  header_mismatch: [
    400,
    'Header {} contradicts the other family of headers. Look for a proxy that rewrites one family.',
  ],
  webhook_id_mismatch: [401, 'The delivery is of another subscription. Compare its id with the option webhookId.'],
  malformed_timestamp: [400, 'The timestamp header is not Unix time in whole seconds. Check the sender.'],
  timestamp_out_of_range: [401, 'The signing time is more than {} s from now. Check the clock of this machine (NTP).'],
  unknown_algorithm: [400, 'The signature algorithm is not v1, the only one supported. Check the sender.'],
  malformed_signature: [400, 'The signature header does not have the form of its algorithm. Check the sender.'],
  signature_mismatch: [
    401,
    'No secret gives this signature. Pass the secret of this subscription and the body as received, before parsing.',
  ],
  malformed_body: [400, 'The body is signed, but it is not a delivery: {}. Check the sender.'],
  event_type_mismatch: [400, 'The event-type header differs from the signed body. Look for a proxy that rewrites it.'],
};

/**
 * The rejection of a delivery. It contains neither the body nor the value of a header nor any part of a secret.
 *
 * @example
 * import { Webhook, WebhookVerificationError } from '@svc/webhook-verify';
 *
 * try {
 *   new Webhook('a secret').verify('{}', {});
 * } catch (error) {
 *   if (WebhookVerificationError.is(error)) console.log(error.code, error.status); // missing_header 400
 * }
 */
export class WebhookVerificationError<
  Code extends WebhookVerificationErrorCode = WebhookVerificationErrorCode,
> extends Error {
  /** The rule that the delivery broke. */
  readonly code: Code;
  /** The status for the answer: 400 for a malformed delivery, 401 for one that is not authentic or not fresh. */
  readonly status: 400 | 401;
  /** The details of the code; undefined for a code without details. */
  readonly details: WebhookVerificationErrorDetails[Code];

  constructor(code: Code, details: WebhookVerificationErrorDetails[Code]) {
    const [status, message] = CODES[code];
    super(message.replace('{}', Object.values(details ?? {}).join()));
    this.name = 'WebhookVerificationError';
    this.code = code;
    this.status = status;
    this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises an error of this class from any bundled copy of the package, where `instanceof` fails. */
  static is(value: unknown): value is WebhookVerificationError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/webhook-verify.error');
