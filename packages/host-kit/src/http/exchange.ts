import type { AuthError, Authenticator, AuthorizationDecided, Peer, Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { Answer } from './answer.ts';
import type { JsonBody } from './body.ts';
import type { RefusedRequest } from './refusal.ts';

/**
 * The operation or mount route that a request addresses, in the terms in which the steps of the pipeline ask for it. It
 * is made once.
 */
export interface Endpoint {
  /** The major in whose form it answers. */
  readonly major: Major;
  /** The refusal of the requested version, thrown before authentication. */
  readonly versionError?: Error | undefined;
  /** How its callers are authenticated; undefined for a public endpoint. */
  readonly gate: Gate | undefined;
  /** The refusal of a path or method that is not served, thrown after authentication. */
  readonly unserved?: Error | undefined;
  /** Every scope that a caller must hold. */
  readonly scopes: readonly string[];
  /** The action of authorization decisions. */
  readonly action: string;
  /** Their resource, where the path names no id. */
  readonly resource: string;
  /** Whether it honours `Idempotency-Key`. */
  readonly takesKey: boolean;
  /** Whether it takes a JSON body. `optional`: no body means `{}`. */
  readonly body: 'none' | 'optional' | 'required';
  /** Whether the body that its own verification reads must be JSON. Absent: it has no verification of its own. */
  readonly takesJson?: boolean;
  readonly serve: (exchange: Exchange) => Promise<Answer>;
  /** The body of a refusal. */
  readonly errorBody: (refusal: RefusedRequest) => unknown;
  /** The name under which requests are recorded. */
  readonly operation: string;
  /** Its name in an API description. Undefined: it has none. */
  readonly operationId?: string | undefined;
  /** The template of the path, for records. */
  readonly path: string | undefined;
}

/** An authenticator, and the error that a major answers with when it rejects a credential. */
export interface Gate {
  readonly authenticator: Authenticator;
  /** Default: the authenticator's own error. */
  readonly refused?: (error: AuthError) => Error;
}

/** A request as it arrived. */
export interface Arrival {
  readonly request: Request;
  readonly peer: Peer | undefined;
  /** Path and query of the URL. */
  readonly target: string;
  /** The refusal of a request with a fault of its framing. */
  readonly fault?: Error | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Its time by the monotonic clock, in ms. */
  readonly since: number;
}

/**
 * One request on its way through the pipeline. Each step adds the facts that it finds, so that a refusal at a later
 * step is recorded with the caller, the scope and the decision of the earlier ones.
 */
export class Exchange {
  readonly arrival: Arrival;
  readonly endpoint: Endpoint;
  /** Path segments as received, by their names in the template. */
  readonly params: Readonly<Record<string, string>>;
  /** The authenticated caller. */
  principal: Principal | undefined = undefined;
  /** The same caller, narrowed to the workspaces in which its roles allow every scope of the endpoint. */
  permitted: Principal | undefined = undefined;
  /** The last scope that was asked for. */
  scope: string | undefined = undefined;
  /** The last authorization decision. */
  decided: AuthorizationDecided | undefined = undefined;
  /** Headers of every answer to this caller, refusals included: rate limit, a fresh DPoP nonce. */
  headers: Readonly<Record<string, string>> = {};
  idempotencyKey: string | undefined = undefined;
  body: JsonBody | undefined = undefined;

  constructor(arrival: Arrival, endpoint: Endpoint, params: Readonly<Record<string, string>>) {
    this.arrival = arrival;
    this.endpoint = endpoint;
    this.params = params;
  }

  /** The authenticated caller of an endpoint that is not public. */
  get caller(): Principal {
    if (this.principal === undefined) throw new Error('A request passed authentication without a principal.');
    return this.principal;
  }
}
