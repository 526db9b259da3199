interface DetailsByCode {
  missing_header: { readonly header: string };
  repeated_header: { readonly header: string };
  header_mismatch: { readonly header: string };
  webhook_id_mismatch: undefined;
  malformed_timestamp: undefined;
  timestamp_out_of_range: { readonly toleranceSeconds: number };
  unknown_algorithm: undefined;
  malformed_signature: undefined;
  signature_mismatch: undefined;
  malformed_body: { readonly problem: string };
  event_type_mismatch: undefined;
}

export type WebhookVerificationErrorCode = keyof DetailsByCode;

/** The status that a receiver answers with, and the sentence that tells its developer what to look at. */
const CODES: Readonly<Record<WebhookVerificationErrorCode, readonly [status: 400 | 401, message: string]>> = {
  missing_header: [400, 'A signature header is missing. Pass all headers of the request, unfiltered.'],
  repeated_header: [400, 'A signature header is repeated with different values. Look for a proxy that adds headers.'],
  header_mismatch: [400, 'The SVC- and X-svc- headers disagree. Look for a proxy that rewrites one of the two.'],
  webhook_id_mismatch: [401, 'The delivery is of another subscription. Compare its id with the option webhookId.'],
  malformed_timestamp: [400, 'The timestamp header is not Unix time in whole seconds. Check the sender.'],
  timestamp_out_of_range: [401, 'The signing time is too far from now. Check the clock of this machine (NTP).'],
  unknown_algorithm: [400, 'The signature algorithm is not v1, the only one supported. Check the sender.'],
  malformed_signature: [400, 'The signature header does not have the form of its algorithm. Check the sender.'],
  signature_mismatch: [
    401,
    'No secret gives this signature. Pass the secret of this subscription and the body as received, before any JSON parsing.',
  ],
  malformed_body: [400, 'The body is signed, but it is not a delivery. See details.problem.'],
  event_type_mismatch: [400, 'The event-type header differs from the signed body. Look for a proxy that rewrites it.'],
};

/**
 * Why a delivery was not accepted. `code` says which rule it broke, `status` what to answer, `message` what to look at. It
 * carries neither the body nor a header value nor anything of the secret.
 */
export class WebhookVerificationError<
  Code extends WebhookVerificationErrorCode = WebhookVerificationErrorCode,
> extends Error {
  readonly code: Code;
  readonly status: 400 | 401;
  readonly details: DetailsByCode[Code];

  constructor(code: Code, details: DetailsByCode[Code]) {
    const [status, message] = CODES[code];
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
    this.status = status;
    this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises the class across bundled copies, where `instanceof` does not. */
  static is(value: unknown): value is WebhookVerificationError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/webhook-verify.error');
