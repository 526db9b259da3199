import type { NegotiatedOperation } from './verdict.ts';

/** The part of a request that negotiation sets. */
export interface NegotiatedRequest {
  /** The operation. Undefined on a path outside the protocol, and when no negotiation has run. */
  readonly svc?: NegotiatedOperation | undefined;
}

/**
 * Returns the operation that a request names. Its type has no `undefined`, unlike the type of `request.svc`.
 *
 * @throws {TypeError} on a path outside the protocol, and when no negotiation has run for the request
 * @example
 * const { major, operation, params } = operationOf(request);
 */
export function operationOf({ svc }: NegotiatedRequest): NegotiatedOperation {
  return svc ?? withoutOperation('request.svc');
}

/** Reports a handler that has no operation. */
export function withoutOperation(field: string): never {
  throw new TypeError(
    `${field}: is not set. Negotiate before this handler, and call it only for paths that the protocol has.`,
  );
}
