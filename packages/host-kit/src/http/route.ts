import type { Authenticator, AuthorizationDecided, Principal } from '@svc/auth';
import type { Major, OperationId } from '@svc/versioning';
import type { z } from 'zod';
import { type HostError, invalid } from '../errors.ts';
import { fieldProblems } from '../field-problems.ts';
import type { Json } from '../json.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Access } from './access.ts';
import type { ByMajor, Description, MountDescription } from './description.ts';
import type { RefusedRequest } from './refusal.ts';
import type { RouteVerification } from './verification.ts';

/** A handler of an operation, for every major that defines the operation. */
export interface Route {
  readonly operationId: OperationId;
  readonly access: Access;
  readonly describes: Description;
  /** Parses the JSON body. Absent: the operation takes no body. */
  readonly schema?: ByMajor<z.ZodType>;
  /** True: a request without a body is treated as one with the body `{}`. Default: false. */
  readonly isBodyOptional?: boolean;
  readonly serve: (call: Call) => Promise<Reply>;
}

/** A request as a route gets it. */
export interface Call {
  /** The major of the request. A route of a mount belongs to none, and has 2. */
  readonly major: Major;
  /** Path segments as received. */
  readonly params: Readonly<Record<string, string>>;
  /** The query of the URL. */
  readonly query: URLSearchParams;
  /** The request headers. */
  readonly headers: Headers;
  /** The authenticated caller. Absent on a public route. */
  readonly principal: Principal | undefined;
  /** The decision of the role authorizer; absent when the host has none. */
  readonly decided: AuthorizationDecided | undefined;
  /** The parsed body before validation. */
  readonly json: unknown;
  /** Returns a signal that aborts when the caller disconnects. A function, because most routes do not need it. */
  readonly gone: () => AbortSignal;
  /**
   * Authenticates and authorizes the caller again, for answers that last longer than a request, such as streams.
   * Returns the principal, or undefined when it would be refused now, or when its credential can be used only once.
   */
  readonly judgeAgain: () => Promise<Principal | undefined>;
  /** A digest of operation and idempotency key, equal for repeated requests; undefined for a request without a key. */
  readonly keyName: string | undefined;
  /**
   * Stores the reply under the request's idempotency key, if it has one, in the transaction of its effect: after a
   * crash the key is used exactly when the effect is durable. A request with a key is answered with the stored reply,
   * even if the handler returns another one. If a handler does not call `keep`, its reply is stored after it has
   * returned; after a crash before that, it is called again.
   *
   * @throws {HostError} `idempotency_in_flight` when the request outlived its lease and another took over. The
   * transaction must not commit.
   */
  readonly keep: (reply: Reply, transaction: Transaction) => Promise<void>;
}

/** A call of an authenticated caller. */
export interface AuthorizedCall extends Call {
  /** The authenticated caller. */
  readonly principal: Principal;
}

/** The result of a handler. */
export interface Reply {
  /** The HTTP status. */
  readonly status: number;
  /** By lower-case names. Default: none but `content-type`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, bytes, or a stream. Bytes and streams have the media type of `content-type`; the default is JSON. */
  readonly body?: Json | Uint8Array | ReadableStream<Uint8Array>;
}

/** Defines a route that needs no credential. */
export function publicRoute(definition: {
  readonly operationId: OperationId;
  readonly describes: Description;
  readonly serve: (call: Call) => Promise<Reply>;
}): Route {
  return { ...definition, access: 'public' };
}

/** Defines a route for callers that hold a scope, or that `access` permits otherwise. */
export function route<Result>(
  definition: CallersOf & {
    readonly operationId: OperationId;
    readonly describes: Description;
  } & Serving<[call: AuthorizedCall], Result>,
): Route {
  const { operationId, describes } = definition;
  return {
    operationId,
    access: accessOf(definition),
    describes,
    serve: async (call) => replyOf(definition, authorized(call), []),
  };
}

/**
 * The two forms of a route's handler. `serve` returns the reply; or `serve` returns the result of an operation and
 * `reply` makes the reply of it, which `save` stores in the operation's transaction. The second form is for operations
 * with an effect.
 */
type Serving<Args extends unknown[], Result> =
  | { readonly serve: (...args: Args) => Promise<Reply>; readonly reply?: undefined }
  | {
      readonly serve: (...args: [...Args, save: Save<Result>]) => Promise<Result>;
      readonly reply: (result: Result, call: AuthorizedCall) => Reply;
    };

async function replyOf<Rest extends unknown[], Result>(
  serving: Serving<[AuthorizedCall, ...Rest], Result>,
  call: AuthorizedCall,
  rest: Rest,
): Promise<Reply> {
  if (serving.reply === undefined) return serving.serve(call, ...rest);
  const { serve, reply } = serving;
  const result = await serve(call, ...rest, (done, transaction) => call.keep(reply(done, call), transaction));
  return reply(result, call);
}

/** The required scope, or another condition of access. */
type CallersOf =
  | { readonly scope: string; readonly access?: undefined }
  | { readonly scope?: undefined; readonly access: Exclude<Access, 'public'> };

function accessOf(callers: CallersOf): Access {
  return callers.access ?? { scope: callers.scope };
}

/** Defines a route like `route`, with a JSON body that the schema of the major parses. */
export function routeWithBody<Body, Result>(
  definition: CallersOf & {
    readonly operationId: OperationId;
    readonly schema: ByMajor<z.ZodType<Body>>;
    readonly isBodyOptional?: boolean;
    /** Finds a reason to refuse a body, before its schema is applied: a member that has an answer of its own. */
    readonly refusal?: (json: unknown, major: Major) => HostError | undefined;
    /** Returns a sentence for a member that is missing, by its field: how this caller finds its value. */
    readonly remedies?: (caller: Principal, major: Major) => Readonly<Record<string, string>>;
    readonly describes: Description;
  } & Serving<[call: AuthorizedCall, body: Body], Result>,
): Route {
  const { operationId, schema, isBodyOptional = false, refusal, remedies, describes } = definition;
  return {
    operationId,
    access: accessOf(definition),
    describes,
    schema,
    isBodyOptional,
    serve: async (call) => {
      const refused = refusal?.(call.json, call.major);
      if (refused !== undefined) throw refused;
      const known = authorized(call);
      const body = parse(schema[call.major], call.json, remedies?.(known.principal, call.major));
      return replyOf(definition, known, [body]);
    },
  };
}

/** An operation of a mount, under `/host/<org>`: outside of the protocol and its majors. */
export interface MountRoute {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path after `/host/<org>`. `{name}` matches one segment. */
  readonly path: string;
  /** The required scope. Absent: any valid credential is accepted, and the handler checks scopes with `permit`. */
  readonly scope?: string;
  /** True: a JSON body is read into `call.json`. */
  readonly takesBody: boolean;
  /**
   * Its entry in the API description of the mounts. `unlisted`: none, for a route that refuses every request. Default:
   * an entry with its method, path and scope alone.
   */
  readonly describes?: MountDescription | 'unlisted';
  /** True: the route honours `Idempotency-Key`, and its handler executes its effect with `call.once`. Default: false. */
  readonly takesKey?: boolean;
  /** Admits callers without a credential of the host, as `publicMountRoute` defines it. Default: a credential. */
  readonly verification?: RouteVerification<MountCall, Reply>;
  /**
   * Authenticates its callers, for a route whose credentials no other operation accepts. Default: the lanes of the host.
   */
  readonly authenticator?: Authenticator;
  /** Serves a request. A rejection is answered with its refusal. */
  readonly serve: (call: MountCall) => Promise<Reply>;
  /** Makes the body of an error response, for a mount of another protocol. Default: the error envelope. */
  readonly refusalBody?: (refusal: RefusedRequest) => Json;
}

/** A request as a mount's route gets it. */
export interface MountCall extends AuthorizedCall {
  /** The raw request. Its body has been consumed if the route takes one. */
  readonly request: Request;
  /**
   * Returns the principal, limited to the workspaces in which it holds the scope.
   *
   * @throws {AuthError} `forbidden` when it holds the scope nowhere
   */
  permit(scope: string): Promise<Principal>;
  /**
   * Executes an effect once under the idempotency key of the request, and makes the reply of its result. A repeated
   * request gets a reply of the stored result, with `SVC-Idempotent-Replay: true`. Without a key it only calls both.
   *
   * @param perform passes its result to `save` in the transaction of its effect
   * @throws {HostError} `idempotency_key_mismatch`, `idempotency_in_flight`
   */
  once<Result extends Json>(
    perform: (save: Save<Result>) => Promise<Result>,
    reply: (result: Result) => Promise<Reply>,
  ): Promise<Reply>;
}

/**
 * Defines a route of a mount.
 *
 * @example
 * const route = mountRoute({
 *   method: 'GET',
 *   path: '/hello',
 *   scope: 'runs:read',
 *   serve: async ({ principal }) => ({ status: 200, body: { hello: principal.id } }),
 * });
 */
export function mountRoute(definition: Omit<MountRoute, 'takesBody'> & { readonly takesBody?: boolean }): MountRoute {
  return { takesBody: false, ...definition };
}

/** The pipeline authenticates every call of such a route, so a missing principal is a defect of the kit. */
function authorized(call: Call): AuthorizedCall {
  if (call.principal === undefined) throw new Error('A route with a scope was called without a principal.');
  return { ...call, principal: call.principal };
}

/**
 * Validates a JSON value.
 *
 * @param remedies a sentence for a member that is missing, by its field
 * @throws {HostError} `validation_error` naming up to 10 fields, each with its problem, and the number of the others
 */
export function parse<Body>(
  schema: z.ZodType<Body>,
  json: unknown,
  remedies: Readonly<Record<string, string>> = {},
): Body {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const [first, ...others] = fieldProblems(schema, json, result.error, { remedies });
  throw first === undefined ? new Error('A schema rejected a body without an issue.') : invalid(first, ...others);
}
