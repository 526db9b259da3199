import type { Principal } from '../principal.ts';

/** The part of a request that a guard sets. */
export interface GuardedRequest {
  /** The caller. Undefined when no guard has run. */
  readonly principal?: Principal | undefined;
}

/**
 * Returns the caller of a guarded request. Its type has no `undefined`, unlike the type of `request.principal`.
 *
 * @throws {TypeError} when no guard has run for the request, which is a mistake in the program
 * @example
 * app.get('/runs', guard, (request) => runsOf(principalOf(request).tenancy));
 */
export function principalOf({ principal }: GuardedRequest): Principal {
  return principal ?? unguarded('request.principal');
}

/** Reports a handler without a guard before it. */
export function unguarded(field: string): never {
  throw new TypeError(`${field}: is not set, as no guard has run for this request. Put the guard before this handler.`);
}
