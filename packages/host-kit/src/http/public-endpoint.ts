import {
  AuthError,
  anonymousMayUse,
  authorizationDecided,
  authorize,
  type Principal,
  type RefusalLimit,
} from '@svc/auth';
import { clientAddress, memoryRateLimiter, type RateLimiter, rateLimitHeaders } from '@svc/auth/rate-limit';
import { HostError } from '../errors.ts';
import { type Clock, within } from '../ports/clock.ts';
import { parseJson, readBytes, refuseDeclaredLength, requireJson } from './body.ts';
import type { Exchange } from './exchange.ts';
import { idempotencyKeyIn } from './idempotency.ts';
import { resourceIn } from './resource.ts';
import type { MountCall, MountRoute, Reply } from './route.ts';
import { queryOf } from './target.ts';
import type { OpenedRequest, RouteVerification } from './verification.ts';

/** The refusal of a request to a public route. It names no caller, because none is known. */
export interface PublicRefusal {
  readonly method: string;
  /** The template of the path. */
  readonly path: string;
  /** The id of ours that the path names. Undefined: it names none. */
  readonly resource?: string;
  readonly code: string;
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface PublicEndpointOptions {
  readonly clock: Clock;
  /** Identifies the client of a request. Default: by the address of its connection. */
  readonly clientOf: RefusalLimit['clientOf'] | undefined;
  /** Called with each refusal of a request that was not verified. */
  readonly refused: (refusal: PublicRefusal) => void;
}

type Judge = RouteVerification<MountCall, Reply>;
type Opened = OpenedRequest<MountCall, Reply>;

/** A request to a public route, limited and verified. */
export type Admit = (exchange: Exchange, route: MountRoute, verification: Judge) => Promise<Opened>;

/** Returns the function that admits requests to public routes. It counts the requests of each client and route. */
export function publicAdmission({ clock, clientOf = clientAddress(), refused }: PublicEndpointOptions): Admit {
  const limiters = new Map<MountRoute, RateLimiter>();

  return async (exchange, route, verification) => {
    try {
      const limiter = limiterOf(route, verification);
      return await admitted(exchange, route, verification, limiter);
    } catch (error) {
      const { method } = route;
      const { path = route.path } = exchange.endpoint;
      const { code, status } = publicPart(error);
      const resource = resourceIn(exchange.params);
      const { startedAt } = exchange.arrival;
      refused({ method, path, code, status, startedAt, ...(resource !== undefined && { resource }) });
      throw error;
    }
  };

  function limiterOf(route: MountRoute, { limits }: Judge): RateLimiter {
    const known = limiters.get(route);
    if (known !== undefined) return known;
    const made = memoryRateLimiter({ ...limits.perClient, now: () => clock.monotonic() });
    limiters.set(route, made);
    return made;
  }

  /** The rate first, so that a flood costs neither a read nor a signature. */
  async function admitted(
    exchange: Exchange,
    { takesKey = false }: MountRoute,
    verification: Judge,
    limiter: RateLimiter,
  ): Promise<Opened> {
    const { endpoint, arrival } = exchange;
    const { request, peer } = arrival;
    const { method, url, headers } = request;
    // Clients whose address is not known share one limit.
    const decision = await limiter.consume(clientOf({ method, url, headers, peer }) ?? 'unknown');
    exchange.headers = rateLimitHeaders(decision);
    if (!decision.allowed) throw decision.error;
    if (takesKey) exchange.idempotencyKey = idempotencyKeyIn(headers, endpoint.major);
    const opened = await verified(exchange, verification);
    exchange.principal = opened.principal;
    exchange.permitted = opened.principal;
    return opened;
  }

  async function verified(exchange: Exchange, { limits, open }: Judge): Promise<Opened> {
    const { arrival, endpoint, params } = exchange;
    const { request, target } = arrival;
    const { method, headers } = request;
    const deadline = clock.monotonic() + limits.deadlineMs;
    const bodyLimits = { maxBytes: limits.maxBodyBytes, timeoutMs: limits.deadlineMs };
    refuseDeclaredLength(headers, bodyLimits);
    if (endpoint.takesJson === true) requireJson(headers);
    const body = await readBytes(request, bodyLimits);
    const late = new AbortController();
    const signal = AbortSignal.any([late.signal, request.signal]);
    const opening = open({ method, params, query: queryOf(target), headers, body, signal });
    if (!(await within(clock, deadline - clock.monotonic(), opening))) {
      late.abort();
      throw tooSlow();
    }
    const opened = await opening;
    if (endpoint.takesJson === true) exchange.body = parseJson(body);
    return opened;
  }
}

/**
 * Requires a scope of an anonymous caller. The grants of the route decide alone: such a caller has no scope and no role.
 *
 * @throws {AuthError} `forbidden`
 * @see Interface: Run owner (identity triple), Anonymous actor rules, 4
 */
export function permitAnonymous(
  exchange: Exchange,
  principal: Principal,
  grants: readonly string[],
  scope: string,
): Principal {
  exchange.scope = scope;
  const decision = anonymousMayUse(grants, scope) ? ({ allowed: true } as const) : authorize({ scopes: [] }, scope);
  const { action, resource } = exchange.endpoint;
  exchange.decided = authorizationDecided(principal, { action, resource }, decision);
  if (!decision.allowed) throw decision.error;
  return principal;
}

function publicPart(error: unknown): { readonly code: string; readonly status: number } {
  return AuthError.is(error) || HostError.is(error) ? error : { code: 'internal_error', status: 500 };
}

function tooSlow(): HostError {
  return new HostError('service_unavailable', 'The request could not be verified in time. Try again.', {
    details: undefined,
    headers: { 'retry-after': '5' },
  });
}
