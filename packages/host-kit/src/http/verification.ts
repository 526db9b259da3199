import type { Principal } from '@svc/auth';

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

/** The verification of a route, without the type of its value. */
export interface RouteVerification<Call, Reply> {
  /** The limits of the route. */
  readonly limits: PublicRouteLimits;
  /** The scopes of its anonymous callers. */
  readonly grants: readonly string[];
  /** Verifies a request. Rejects to refuse it. */
  readonly open: (request: UnverifiedRequest) => Promise<OpenedRequest<Call, Reply>>;
}

/** A verified request of a caller, or the reply to one of no caller. */
export type OpenedRequest<Call, Reply> =
  | {
      /** The caller as which it is served. */
      readonly principal: Principal;
      /** Serves it. */
      readonly serve: (call: Call) => Promise<Reply>;
    }
  | {
      /** The request is of no tenant, such as that of an issuer: it is not recorded as a request. */
      readonly principal: undefined;
      /** The reply to it. */
      readonly reply: Reply;
    };
