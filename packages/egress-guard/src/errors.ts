import type { UrlRejection } from './rejection.ts';

/**
 * Why a call did not come about.
 *
 * | code | |
 * |---|---|
 * | `url_rejected` | the URL itself may not be called; `rejection` says which rule it broke |
 * | `destination_unavailable` | its name or address cannot be called: it does not resolve, resolves to what is denied, or nobody answers |
 * | `tls_failed` | the certificate is not one for this host |
 * | `timeout`, `aborted` | the deadline, or the caller's signal, ended it |
 * | `response_too_large` | the answer went over its limit |
 * | `response_encoded` | the answer is compressed although nobody asked for that |
 * | `redirect_refused` | the answer is a redirect, or one too many |
 * | `protocol_error` | the answer was no HTTP, or broke off |
 */
export type EgressErrorCode =
  | 'url_rejected'
  | 'destination_unavailable'
  | 'tls_failed'
  | 'timeout'
  | 'aborted'
  | 'response_too_large'
  | 'response_encoded'
  | 'redirect_refused'
  | 'protocol_error';

const MESSAGES: Readonly<Record<EgressErrorCode, string>> = {
  url_rejected: 'The URL is not allowed. Use a public https URL.',
  destination_unavailable: 'The destination is not available. Check its name, its address and its port.',
  tls_failed: 'The TLS certificate of the destination is not trusted. It must be valid for the host name.',
  timeout: 'The deadline passed before the response was complete.',
  aborted: 'The call was aborted.',
  response_too_large: 'The response exceeds the size limit.',
  response_encoded: 'The response has a content encoding that the request did not accept.',
  redirect_refused: 'The response is a redirect, which is not followed. Use the final URL.',
  protocol_error: 'The destination did not respond with valid HTTP/1.1.',
};

/**
 * What a guarded call throws. Code and message may be shown to whoever chose the URL: a denied address and a name that does not
 * resolve look the same. `reason` and `cause` are for the operator's log alone, since they tell what of the inside a name pointed at.
 */
export class EgressError extends Error {
  readonly code: EgressErrorCode;
  /** Which rule the URL broke, for `url_rejected`. */
  readonly rejection: UrlRejection | undefined;
  /** For logs: a range such as `link-local`, or a stage such as `dns`. Not enumerable, so that serialising the error does not show it. */
  declare readonly reason: string;

  constructor(code: EgressErrorCode, reason: string, options: { rejection?: UrlRejection; cause?: unknown } = {}) {
    super(MESSAGES[code]);
    this.name = 'EgressError';
    this.code = code;
    this.rejection = options.rejection;
    Object.defineProperty(this, 'reason', { value: reason });
    if (options.cause !== undefined) Object.defineProperty(this, 'cause', { value: options.cause });
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises the class across bundled copies, where `instanceof` does not. */
  static is(value: unknown): value is EgressError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/egress-guard.error');
