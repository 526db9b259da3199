import type { IncomingMessage } from 'node:http';
import { authorize } from '../authorize.ts';
import type { AuthError } from '../errors.ts';
import { type Admittance, admittance, GUARD_OPTIONS, type GuardOptions, requireGuardOptions } from '../guard.ts';
import type { OptionNames } from '../known-options.ts';
import { clientIn, report } from '../outcome-report.ts';
import type { Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { headOf as headOfWeb } from './fetch.ts';
import { headOf as headOfNode } from './node-request.ts';

/** The error class of tRPC. */
export type TrpcErrorClass = new (options: { code: TrpcErrorCode; message: string; cause?: unknown }) => Error;

/** The codes of tRPC for refusals. */
export type TrpcErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'TOO_MANY_REQUESTS'
  | 'BAD_REQUEST'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR';

/** Options of {@link trpcContext}. */
export interface TrpcContextOptions
  extends Pick<GuardOptions, 'authenticator' | 'lanes' | 'limiter' | 'implied' | 'onOutcome'> {
  /** `TRPCError` of `@trpc/server`, which refused procedures throw. */
  readonly TRPCError: TrpcErrorClass;
}

const { scope: _scope, optional: _optional, refuse: _refuse, onError: _onError, ...SHARED } = GUARD_OPTIONS;
const TRPC_CONTEXT_OPTIONS: OptionNames<TrpcContextOptions> = { ...SHARED, TRPCError: true };

/** The argument of `createContext`, in the adapters of tRPC for Fetch, Node, Express and Fastify. */
export interface TrpcCall {
  /** The request. */
  readonly req: Request | IncomingMessage | { readonly raw: IncomingMessage };
  /** The response of Node, Express or Fastify. */
  readonly res?: object | undefined;
  /** The headers of the response, in the Fetch adapter. */
  readonly resHeaders?: Headers | undefined;
}

/** The context of a procedure: its caller. */
export interface TrpcCaller {
  /** The caller. Undefined for a request without a valid credential: such a request may call open procedures alone. */
  readonly principal: Principal | undefined;
  /**
   * Returns the caller, who holds a scope.
   *
   * @param scope the scope that the procedure needs, or several that are all needed. Default: any caller.
   * @throws {Error} a `TRPCError` with the code of the refusal, and the `AuthError` as `cause`
   */
  require(scope?: string | readonly string[]): Principal;
}

/**
 * Makes the function `createContext` of tRPC. It authenticates and counts each HTTP request once, also when a request is a
 * batch of calls; each procedure then asks for its scope with `ctx.require(scope)`. A procedure that asks for nothing is
 * open. `onError` of tRPC's handler sees each refusal, with the `AuthError` as `cause`. The header `WWW-Authenticate` is set when a procedure refuses the caller, if the response has not begun.
 * A subscription is judged once, when it begins: end it at `principal.expiresAt`.
 *
 * @example
 * import { initTRPC, TRPCError } from '@trpc/server';
 *
 * const createContext = trpcContext({ authenticator: auth, TRPCError });
 * const t = initTRPC.context<TrpcCaller>().create();
 * const withScope = (scope: string) =>
 *   t.procedure.use(({ ctx, next }) => next({ ctx: { principal: ctx.require(scope) } }));
 * export const router = t.router({ runs: withScope('runs:read').query(({ ctx }) => runsOf(ctx.principal.tenancy)) });
 */
export function trpcContext(options: TrpcContextOptions): (call: TrpcCall) => Promise<TrpcCaller> {
  requireGuardOptions('trpcContext', options, TRPC_CONTEXT_OPTIONS);
  const { TRPCError, implied, onOutcome, ...shared } = options;
  if (typeof TRPCError !== 'function')
    throw new TypeError('trpcContext: TRPCError must be the class of @trpc/server. Import it from there.');
  const admit = admittance({ ...shared, ...(onOutcome !== undefined && { onOutcome }) });

  return async (call) => {
    const request = headIn(call);
    const verdict = await admit(request);
    const setHeaders = headersOf(call);
    if (verdict.admitted) setHeaders(verdict.headers);
    return {
      principal: verdict.admitted ? verdict.principal : undefined,
      require: (scope) => required(verdict, request, setHeaders, scope),
    };
  };

  function required(
    verdict: Admittance,
    request: RequestHead,
    setHeaders: SetHeaders,
    scope: string | readonly string[] | undefined,
  ): Principal {
    if (!verdict.admitted) {
      setHeaders(verdict.refusal.headers);
      throw thrown(verdict.error);
    }
    const { principal } = verdict;
    const decision = scope === undefined ? undefined : authorize(principal, scope, implied && { implied });
    if (decision === undefined || decision.allowed) return principal;
    const { error } = decision;
    setHeaders(error.headers);
    if (onOutcome !== undefined)
      report(onOutcome, { lane: principal.lane, client: clientIn(request, undefined), outcome: { error } });
    throw thrown(error);
  }

  function thrown(error: AuthError): Error {
    const code = CODES.get(error.status) ?? 'INTERNAL_SERVER_ERROR';
    return new TRPCError({ code, message: error.message, cause: error });
  }
}

const CODES: ReadonlyMap<number, TrpcErrorCode> = new Map([
  [400, 'BAD_REQUEST'],
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [429, 'TOO_MANY_REQUESTS'],
  [503, 'SERVICE_UNAVAILABLE'],
]);

function headIn({ req }: TrpcCall): RequestHead {
  if ('raw' in req) return headOfNode(req.raw);
  return isWeb(req) ? headOfWeb(req, undefined) : headOfNode(req);
}

function isWeb(req: Request | IncomingMessage): req is Request {
  return 'get' in req.headers && typeof req.headers.get === 'function';
}

type SetHeaders = (headers: Readonly<Record<string, string>>) => void;

/** A response that streams its results has begun before its procedures run: its headers stay. */
function headersOf({ res, resHeaders }: TrpcCall): SetHeaders {
  return (headers) => {
    for (const [name, value] of Object.entries(headers)) {
      // The body of the refusal is tRPC's own.
      if (name === 'content-type') continue;
      if (resHeaders !== undefined) resHeaders.set(name, value);
      else if (isFastify(res)) res.header(name, value);
      else if (isNode(res) && res.headersSent !== true) res.setHeader(name, value);
    }
  };
}

interface NodeResponse {
  readonly headersSent?: boolean;
  setHeader(name: string, value: string): unknown;
}

function isNode(res: object | undefined): res is NodeResponse {
  return res !== undefined && 'setHeader' in res && typeof res.setHeader === 'function';
}

function isFastify(res: object | undefined): res is { header(name: string, value: string): unknown } {
  return res !== undefined && !isNode(res) && 'header' in res && typeof res.header === 'function';
}
