import { memoryRateLimiter } from '@svc/auth/rate-limit';
import type { Json } from '../json.ts';
import type { MountDescription } from './description.ts';
import type { RefusedRequest } from './refusal.ts';
import type { MountCall, MountRoute, Reply } from './route.ts';
import type { PublicRouteLimits, UnverifiedRequest, Verified } from './verification.ts';

/** A route that needs no credential of the host, because it verifies its requests itself. */
export interface PublicMountRoute<Value> {
  /** The HTTP method. */
  readonly method: MountRoute['method'];
  /** The path after `/host/<org>`. `{name}` matches one segment. */
  readonly path: string;
  /** Each missing member takes its default. */
  readonly limits?: Partial<PublicRouteLimits>;
  /**
   * The scopes that an anonymous caller is granted on this route, by name. Default: none. A caller of another kind has
   * the scopes of its principal.
   */
  readonly grants?: readonly string[];
  /** True: the body must be JSON, and is parsed into `call.json` after the verification. Default: false. */
  readonly takesBody?: boolean;
  /** True: the handler executes its effect with `call.once`. Default: false. */
  readonly takesKey?: boolean;
  /** Its entry in the API description, as `MountRoute` defines it. Default: its method and path alone. */
  readonly describes?: MountDescription | 'unlisted';
  /** Judges a request. To refuse it, it throws an `AuthError` or a `HostError`. Any other error is answered 500. */
  readonly verify: (request: UnverifiedRequest) => Verified<Value> | Promise<Verified<Value>>;
  /** Serves a verified request. */
  readonly serve: (call: MountCall, value: Value) => Promise<Reply>;
  /** Makes the body of an error response. Default: the error envelope. */
  readonly refusalBody?: (refusal: RefusedRequest) => Json;
}

/**
 * Defines a route of a mount that is open to callers without a credential of the host. Before `verify` is called, the
 * host limits the requests of the client address, and reads the body within its limits. Refusals are logged and
 * audited, at most 60 in a minute for each route; served requests are recorded like all others.
 *
 * @throws {TypeError} when `limits.perClient` is not valid
 * @example
 * publicMountRoute({
 *   method: 'POST',
 *   path: '/inbox',
 *   verify({ headers, body }) {
 *     const checked = webhook.safeVerify(body, headers);
 *     if (!checked.ok) throw new AuthError('unauthenticated', 'The signature does not match.', undefined);
 *     return { principal: sender, value: checked.delivery };
 *   },
 *   serve: async (call, { eventType }) => ({ status: 202, body: { received: eventType } }),
 * });
 * @see Interface: Run owner (identity triple), Anonymous actor rules
 */
export function publicMountRoute<Value>(definition: PublicMountRoute<Value>): MountRoute {
  const { method, path, grants = [], takesBody = false, takesKey = false, describes, refusalBody } = definition;
  const limits = { ...DEFAULT_LIMITS, ...definition.limits };
  // Throws for a limit that is not valid now, and not at the first request.
  memoryRateLimiter({ ...limits.perClient, now: () => 0 });
  return {
    ...{ method, path, takesBody, takesKey },
    ...(describes !== undefined && { describes }),
    ...(refusalBody !== undefined && { refusalBody }),
    verification: {
      limits,
      grants,
      async open(request) {
        const { principal, value } = await definition.verify(request);
        return { principal, serve: (call) => definition.serve(call, value) };
      },
    },
    serve: neverServed,
  };
}

const DEFAULT_LIMITS: PublicRouteLimits = {
  maxBodyBytes: 65_536,
  deadlineMs: 10_000,
  perClient: { limit: 60, windowSeconds: 60 },
};

async function neverServed(): Promise<Reply> {
  throw new Error('A public route was served without its verification.');
}
