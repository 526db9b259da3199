import type { Principal } from '@svc/auth';
import type { Json } from '../json.ts';
import type { Refusal } from './refusal.ts';
import type { MountCall, MountRoute, Reply } from './route.ts';

/** A request to a public route, before it is verified. */
export interface UnverifiedRequest {
  /** The HTTP method. */
  readonly method: string;
  /** Path segments as received, by their names in the path of the route. */
  readonly params: Readonly<Record<string, string>>;
  /** The query of the URL. */
  readonly query: URLSearchParams;
  /** The request headers. */
  readonly headers: Headers;
  /** The body as received. A signature is verified over these bytes. */
  readonly body: Uint8Array;
  /** Aborts at the deadline of the route, and when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** The outcome of a verification. */
export interface Verified<Value> {
  /**
   * The caller as which the request is served and recorded: the configured principal of a sender that has proved its
   * identity, or the result of `anonymousActor` for a caller without one.
   */
  readonly principal: Principal;
  /** A value for the handler. */
  readonly value: Value;
}

/** The limits of a public route. */
export interface PublicRouteLimits {
  /** The largest body in bytes. A larger one is answered 413. Default 65 536. */
  readonly maxBodyBytes: number;
  /** The time in which the body must arrive and be verified, in ms. Default 10 000. */
  readonly deadlineMs: number;
  /** The requests of one client address. Further ones are answered 429. Default 60 in 60 s. */
  readonly perClient: {
    /** A whole number, at least 1. */
    readonly limit: number;
    /** A whole number of seconds, at least 1. */
    readonly windowSeconds: number;
  };
}

/** A route that needs no credential of the host, because it verifies its requests itself. */
export interface PublicMountRoute<Value> {
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
  /** Judges a request. To refuse it, it throws an `AuthError` or a `HostError`. Any other error is answered 500. */
  readonly verify: (request: UnverifiedRequest) => Verified<Value> | Promise<Verified<Value>>;
  /** Serves a verified request. */
  readonly serve: (call: MountCall, value: Value) => Promise<Reply>;
  /** Makes the body of an error response. Default: the error envelope. */
  readonly refusalBody?: (refusal: Refusal) => Json;
}

/** The verification of a route, without the type of its value. */
export interface Verification {
  readonly limits: PublicRouteLimits;
  readonly grants: readonly string[];
  readonly open: (request: UnverifiedRequest) => Promise<OpenedRequest>;
}

/** A verified request. */
export interface OpenedRequest {
  readonly principal: Principal;
  readonly serve: (call: MountCall) => Promise<Reply>;
}

/**
 * Defines a route of a mount that is open to callers without a credential of the host. Before `verify` is called, the
 * host limits the requests of the client address, and reads the body within its limits. Refusals are logged and
 * audited, at most 60 in a minute for each route; served requests are recorded like all others.
 *
 * @example
 * publicMountRoute({
 *   method: 'POST',
 *   path: '/inbox',
 *   async verify({ headers, body }) {
 *     const delivery = await verifier.verify(body, headers);
 *     return { principal: sender, value: delivery };
 *   },
 *   serve: async (call, delivery) => ({ status: 202 }),
 * });
 * @see Interface: Run owner (identity triple), Anonymous actor rules
 */
export function publicMountRoute<Value>(definition: PublicMountRoute<Value>): MountRoute {
  const { method, path, limits, grants = [], takesBody = false, takesKey = false, refusalBody } = definition;
  return {
    ...{ method, path, takesBody, takesKey },
    ...(refusalBody !== undefined && { refusalBody }),
    verification: {
      limits: { ...DEFAULT_LIMITS, ...limits },
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
