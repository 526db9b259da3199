import type { AuthorizationDecided, Principal } from '@svc/auth';
import type { Major, OperationId } from '@svc/versioning';
import type { z } from 'zod';
import { type FieldProblem, invalid } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Access } from './access.ts';
import type { ByMajor, Description } from './description.ts';
import type { Refusal } from './refusal.ts';

/** An operation as the host serves it, in every major that the manifest defines it in. */
export interface Route {
  readonly operationId: OperationId;
  readonly access: Access;
  readonly describes: Description;
  /** What a JSON body is parsed by; without it the operation takes none. */
  readonly schema?: ByMajor<z.ZodType>;
  /** Whether a request without a body stands for one with `{}`. Default false. */
  readonly isBodyOptional?: boolean;
  readonly serve: (call: Call) => Promise<Reply>;
}

/** What every route is given. */
export interface Call {
  readonly major: Major;
  /** Path segments as received. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** Absent on a public route. */
  readonly principal: Principal | undefined;
  /** What roles decided about the call; absent where they are not asked. */
  readonly decided: AuthorizationDecided | undefined;
  /** Parsed, and not yet judged by a schema. */
  readonly json: unknown;
  /** Aborted when the caller has gone. A function, as most routes never ask. */
  readonly gone: () => AbortSignal;
  /**
   * Judges the caller once more, for what is served longer than a request takes: the principal as it would be let in now, or
   * undefined when it would be refused, or when the credential can be judged only once.
   */
  readonly judgeAgain: () => Promise<Principal | undefined>;
  /** Stands for the request's idempotency key without telling it; undefined when it has none. The same whenever it is executed. */
  readonly keyName: string | undefined;
  /**
   * Keeps the reply under the request's idempotency key, if it has one, in the transaction of what it tells of: after a crash the
   * key has been used exactly when that was done. A request with a key is answered with what was kept, whatever the handler returns. A
   * handler that does not call it has its reply kept when it has ended, so that after a crash in between it is called again.
   *
   * @throws {HostError} `idempotency_in_flight` when the request took so long that another has taken over; let it end the transaction
   */
  readonly keep: (reply: Reply, transaction: Transaction) => Promise<void>;
}

/** What a route with a scope is given beside. */
export interface AuthorizedCall extends Call {
  readonly principal: Principal;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, bytes that are already JSON, or a stream of whatever `content-type` says. */
  readonly body?: Json | Uint8Array | ReadableStream<Uint8Array>;
}

/** A route that asks for no credential. */
export function publicRoute(definition: {
  readonly operationId: OperationId;
  readonly describes: Description;
  readonly serve: (call: Call) => Promise<Reply>;
}): Route {
  return { ...definition, access: 'public' };
}

/** Defines a route for callers that hold a scope, or whom `access` lets in otherwise. */
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
    serve: (call) => replyOf(definition, authorized(call), []),
  };
}

/**
 * The two forms of a route's handler. `serve` returns the reply; or `serve` returns the result of an operation and `reply` makes the reply
 * of it, which `save` stores in the operation's transaction. The second form is for operations with an effect.
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

/** A scope, or what else lets callers in. */
type CallersOf =
  | { readonly scope: string; readonly access?: undefined }
  | { readonly scope?: undefined; readonly access: Exclude<Access, 'public'> };

function accessOf(callers: CallersOf): Access {
  return callers.access ?? { scope: callers.scope };
}

/** A route for callers that hold a scope, with a JSON body that the schema of the major turns into what it asks for. */
export function routeWithBody<Body, Result>(
  definition: CallersOf & {
    readonly operationId: OperationId;
    readonly schema: ByMajor<z.ZodType<Body>>;
    readonly isBodyOptional?: boolean;
    readonly describes: Description;
  } & Serving<[call: AuthorizedCall, body: Body], Result>,
): Route {
  const { operationId, schema, isBodyOptional = false, describes } = definition;
  return {
    operationId,
    access: accessOf(definition),
    describes,
    schema,
    isBodyOptional,
    serve: (call) => replyOf(definition, authorized(call), [parse(schema[call.major], call.json)]),
  };
}

/** An operation of the host's own, under `/host/<org>`: in no major, and in no manifest. */
export interface MountRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind `/host/<org>`; `{name}` stands for one segment. */
  readonly path: string;
  /** What the caller must hold. Without it any valid credential will do, and the route asks for what it needs by `permit`. */
  readonly scope?: string;
  readonly takesBody: boolean;
  readonly serve: (call: MountCall) => Promise<Reply>;
  /** The body of a refusal, for a mount that speaks another protocol. Default: the error envelope. */
  readonly refusalBody?: (refusal: Refusal) => Json;
}

/** What a route of the host's own is given beside. */
export interface MountCall extends AuthorizedCall {
  /** Its body has been read if the route takes one. */
  readonly request: Request;
  /**
   * The caller, as far as it may do what a scope names.
   *
   * @throws {AuthError} `forbidden`
   */
  permit(scope: string): Promise<Principal>;
}

export function mountRoute(definition: Omit<MountRoute, 'takesBody'> & { readonly takesBody?: boolean }): MountRoute {
  return { takesBody: false, ...definition };
}

/** The pipeline has authenticated every call of a route with a scope; a call that it has not is a mistake in the kit. */
function authorized(call: Call): AuthorizedCall {
  if (call.principal === undefined) throw new Error('A route with a scope was called without a principal.');
  return { ...call, principal: call.principal };
}

/** @throws {HostError} `validation_error` naming what is wrong with which field */
export function parse<Body>(schema: z.ZodType<Body>, json: unknown): Body {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const [first, ...others] = result.error.issues.map(problemOf);
  throw first === undefined ? new Error('A schema refused without a reason.') : invalid(first, ...others.slice(0, 9));
}

function problemOf({ path, message }: z.core.$ZodIssue): FieldProblem {
  const field = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return { field: field.replace(/^\./, '') || 'body', problem: message };
}
