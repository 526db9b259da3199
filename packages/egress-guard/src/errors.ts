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
  url_rejected: 'The URL may not be called.',
  destination_unavailable: 'The destination could not be called.',
  tls_failed: 'The certificate of the destination was not accepted.',
  timeout: 'The deadline passed before the answer was complete.',
  aborted: 'The call was aborted.',
  response_too_large: 'The answer is longer than it may be.',
  response_encoded: 'The answer is compressed, and nobody asked for that.',
  redirect_refused: 'The answer is a redirect, and it is not followed.',
  protocol_error: 'The destination did not answer as HTTP/1.1 says.',
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
