interface DetailsByCode {
  missing_header: { readonly header: string };
  repeated_header: { readonly header: string };
  header_mismatch: { readonly header: string };
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
const CODES: Readonly<Record<WebhookVerificationErrorCode, { readonly status: 400 | 401; readonly message: string }>> =
  {
    missing_header: {
      status: 400,
      message: 'A signature header is missing. Pass all headers of the request, unfiltered.',
    },
    repeated_header: {
      status: 400,
      message: 'A signature header occurs more than once with different values. Look for a proxy that adds headers.',
    },
    header_mismatch: {
      status: 400,
      message:
        'The SVC- and X-svc- headers disagree. Both families carry the same values; look for a proxy that rewrites one.',
    },
    malformed_timestamp: {
      status: 400,
      message: 'The timestamp header is not a Unix time in whole seconds.',
    },
    timestamp_out_of_range: {
      status: 401,
      message: 'The delivery was signed too long ago or too far ahead. Check the clock of this machine (NTP).',
    },
    unknown_algorithm: {
      status: 400,
      message: 'The signature algorithm is not v1, the only one that this version knows.',
    },
    malformed_signature: {
      status: 400,
      message: 'The signature header is not sha256= followed by 64 hexadecimal digits.',
    },
    signature_mismatch: {
      status: 401,
      message:
        'No secret gives this signature. Check that the secret is the one from the registration and that the body is passed as the bytes received, before any JSON parsing.',
    },
    malformed_body: {
      status: 400,
      message: 'The signature is right, but the body is not a delivery.',
    },
    event_type_mismatch: {
      status: 400,
      message:
        'The event-type header names another type than the signed body. Only the body is signed; look for a proxy that rewrites headers.',
    },
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
    super(CODES[code].message);
    this.name = 'WebhookVerificationError';
    this.code = code;
    this.status = CODES[code].status;
    this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises the class across bundled copies, where `instanceof` does not. */
  static is(value: unknown): value is WebhookVerificationError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/webhook-verify.error');
