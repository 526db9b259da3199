import { type Authenticator, authorize, type Principal } from '@svc/auth';
import type { RateLimiter } from '@svc/auth/rate-limit';
import {
  type Negotiation,
  negotiate,
  type OperationId,
  type Retirement,
  type Served,
  stampResponse,
  stampRetirement,
} from '@svc/versioning';
import type { Clock } from '../clock.ts';
import { HostError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import { type BodyLimits, readJson, refuseDeclaredLength } from './body.ts';
import { failureResponse } from './failure.ts';
import type { Reply, Route } from './route.ts';

export interface PipelineOptions {
  readonly served: Served;
  /** Said on every response of major 1. */
  readonly retirement: Retirement | undefined;
  readonly routes: readonly Route[];
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter | undefined;
  readonly limits: BodyLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * What every request goes through, in this order: limits, version, authentication, rate limit, scope, body, handler, stamping,
 * access log. A refusal at one step is all that a caller learns of those behind it.
 */
export function pipeline(options: PipelineOptions): (request: Request) => Promise<Response> {
  const { served, clock, log } = options;
  const routes = new Map<OperationId, Route>(options.routes.map((route) => [route.operationId, route]));

  return async (request) => {
    const started = clock.now();
    const { pathname, search } = new URL(request.url);
    const target = pathname + search;
    const negotiation = negotiate({ method: request.method, target, headers: request.headers }, served);
    if (negotiation.kind === 'foreign') return notFound();

    const caller: Caller = { principal: undefined };
    const response = await answer(request, negotiation, caller).catch((error: unknown) =>
      failureResponse(error, negotiation.major, options),
    );
    stampResponse(response.headers, negotiation.contract);
    if (negotiation.major === 1 && options.retirement !== undefined)
      stampRetirement(response.headers, options.retirement);
    if (caller.principal !== undefined) {
      log(accessRecord(request, negotiation, caller.principal, response.status, clock.now() - started));
    }
    return request.method === 'HEAD' ? withoutBody(response) : response;
  };

  async function answer(request: Request, negotiation: Protocol, caller: Caller): Promise<Response> {
    refuseDeclaredLength(request.headers, options.limits);
    if (negotiation.kind === 'refused') throw negotiation.error;

    const route = negotiation.kind === 'operation' ? routes.get(negotiation.operation.operationId) : undefined;
    if (route?.access !== 'public') await authenticate(request, caller);
    if (negotiation.kind === 'method-not-allowed') throw methodNotAllowed(negotiation.allow);
    if (negotiation.kind === 'absent') throw absent();
    if (route === undefined) throw UNSERVED[negotiation.major](negotiation.operation.operationId);

    if (route.access !== 'public' && caller.principal !== undefined) {
      const decision = authorize(caller.principal, [route.access.scope]);
      if (!decision.allowed) throw decision.error;
    }
    const json = route.takesBody ? await readJson(request, options.limits) : undefined;
    const { major, params } = negotiation;
    const query = new URL(request.url).searchParams;
    const { principal } = caller;
    return responseOf(await route.serve({ major, params, query, headers: request.headers, principal, json }));
  }

  async function authenticate(request: Request, caller: Caller): Promise<void> {
    const outcome = await options.authenticator.authenticate(request);
    if (outcome.kind === 'refused') throw outcome.error;
    caller.principal = outcome.principal;
    const decision = await options.limiter?.consume(outcome.principal.credentialId);
    if (decision?.allowed === false) throw decision.error;
  }
}

type Protocol = Exclude<Negotiation, { readonly kind: 'foreign' }>;

/** Filled in as soon as it is known, so that refusals of a known caller are logged too. */
interface Caller {
  principal: Principal | undefined;
}

function responseOf({ status, headers = {}, body }: Reply): Response {
  if (body === undefined) return new Response(null, { status, headers });
  const bytes = body instanceof Uint8Array ? body.slice() : JSON.stringify(body);
  return new Response(bytes, { status, headers: { 'content-type': 'application/json', ...headers } });
}

function withoutBody({ status, headers }: Response): Response {
  return new Response(null, { status, headers });
}

/** Outside of the protocol, so without its version. */
function notFound(): Response {
  const body = JSON.stringify({ error: 'not_found', message: 'There is nothing at this path.' });
  return new Response(body, { status: 404, headers: { 'content-type': 'application/json' } });
}

/** An operation of the protocol that this host does not serve. */
const UNSERVED = {
  1: (operation: OperationId) =>
    new HostError('capability_not_provided', 'This host does not provide the operation.', { details: { operation } }),
  2: absent,
} as const;

function absent(): HostError {
  return new HostError('not_found', 'This host does not serve the operation.', { details: undefined });
}

function methodNotAllowed(allow: readonly string[]): HostError {
  return new HostError('method_not_allowed', `This path takes ${allow.join(', ')}.`, {
    details: undefined,
    headers: { allow: allow.join(', ') },
  });
}

/** The path is logged as its template: a segment may be a token. @see Interface: Audit logging */
function accessRecord(
  request: Request,
  negotiation: Protocol,
  principal: Principal,
  status: number,
  latencyMs: number,
) {
  return {
    level: 'info',
    event: 'request',
    keyId: principal.credentialId,
    tenant: principal.tenancy.tenant,
    method: request.method,
    path: 'operation' in negotiation ? negotiation.operation.path : undefined,
    major: negotiation.major,
    status,
    latencyMs,
  } as const;
}
