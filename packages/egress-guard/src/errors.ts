import type { UrlRejection } from './rejection.ts';

/**
 * The cause of a failed call.
 *
 * | code | |
 * |---|---|
 * | `url_rejected` | the URL itself is not allowed; `rejection` names the rule that it broke |
 * | `destination_unavailable` | the name does not resolve, an address is denied, or no address accepts a connection |
 * | `tls_failed` | the certificate is not valid for the host name |
 * | `timeout`, `aborted` | the deadline, or the caller's signal, ended the call |
 * | `response_too_large` | the response exceeds its size limit |
 * | `response_encoded` | the response has a content encoding that the request did not accept |
 * | `redirect_refused` | the response is a redirect that is not followed, or one redirect too many |
 * | `protocol_error` | the response is not valid HTTP/1.1, or it broke off |
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
 * The error of a guarded call. Code and message may be shown to the author of the URL: a denied address and a name that
 * does not resolve look the same. `reason` and `cause` are only for the operator's log, because they reveal the kind of
 * an internal address.
 *
 * @example
 * import { EgressError } from '@svc/egress-guard';
 * import { guardedFetch } from '@svc/egress-guard/fetch';
 *
 * const safeFetch = guardedFetch();
 * try {
 *   await safeFetch('https://169.254.169.254/');
 * } catch (error) {
 *   if (EgressError.is(error)) console.log(error.code, error.rejection); // url_rejected host_not_allowed
 * }
 */
export class EgressError extends Error {
  /** The cause of the failure. */
  readonly code: EgressErrorCode;
  /** The rule that the URL broke, for `url_rejected`; undefined for other codes. */
  readonly rejection: UrlRejection | undefined;
  /**
   * For logs: a range such as `link-local`, or a stage such as `dns`. Not enumerable, so that a serialised error omits
   * it.
   */
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

  /** Recognises an error of this class from any bundled copy of the package, where `instanceof` fails. */
  static is(value: unknown): value is EgressError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/egress-guard.error');
