import {
  AuthError,
  type Authenticator,
  type AuthorizationDecided,
  authorizationDecided,
  authorize,
  type Peer,
  type Principal,
  type RoleAuthorizer,
} from '@svc/auth';
import { type RateLimiter, rateLimitHeaders } from '@svc/auth/rate-limit';
import {
  type Major,
  type Negotiation,
  negotiate,
  type OperationId,
  type Retirement,
  type Served,
  stampRetirement,
  VERSION_HEADER,
} from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import { HostError } from '../errors.ts';
import type { Once } from '../idempotency/once.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import { isPathCredential, scopesOf } from './access.ts';
import { type Answer, answerOf, plainError, withoutBody } from './answer.ts';
import { type BodyLimits, type JsonBody, readJson, readOptionalJson, refuseDeclaredLength } from './body.ts';
import type { ContentCodings } from './content-coding.ts';
import { failureAnswer } from './failure.ts';
import { idempotencyKeyIn, type Keyed, servedOnce, takesKey, UNKEYED } from './idempotency.ts';
import type { MountMatch, MountTable } from './mount-table.ts';
import type { MountRoute, Reply, Route } from './route.ts';
import type { Asked, RequestWatch } from './watch.ts';

export interface PipelineOptions {
  readonly served: Served;
  /** Said on every response of major 1. */
  readonly retirement: Retirement | undefined;
  readonly routes: readonly Route[];
  /** The host's own operations, which are in no major. */
  readonly vendor: MountTable;
  /** Documents outside of the protocol, by their path: public, and the same for everybody. */
  readonly documents: ReadonlyMap<string, () => Promise<Reply>>;
  readonly authenticator: Authenticator;
  readonly roles: RoleAuthorizer | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly limits: BodyLimits;
  readonly codings: ContentCodings;
  /** Executes what has an idempotency key. */
  readonly once: Once;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly watch: RequestWatch;
  /** Told of every request whose caller is known, when its answer is. The answer waits for a promise that it returns. */
  readonly answered: (record: RequestRecord) => Promise<void> | undefined;
}

/** What is kept of an authenticated request: nothing of what it said. */
export interface RequestRecord {
  readonly principal: Principal;
  readonly operation: string;
  readonly method: string;
  /** The template, as a segment may be a token. */
  readonly path: string | undefined;
  readonly scope: string | undefined;
  readonly major: 1 | 2;
  readonly status: number;
  readonly startedAt: number;
  readonly latencyMs: number;
  readonly decided: AuthorizationDecided | undefined;
  /** From a well-formed `traceparent`, to find the request by; it counts for nothing else. */
  readonly traceId: string | undefined;
}

/**
 * What every request goes through, in this order: limits, version, authentication, rate limit, scope and role, body, idempotency,
 * handler, stamping, record. A refusal at one step is all that a caller learns of those behind it.
 */
export function pipeline(options: PipelineOptions): (request: Request, peer?: Peer) => Promise<Answer> {
  const { served, clock, documents, roles, watch, codings } = options;
  const routes = new Map<OperationId, Route>(options.routes.map((route) => [route.operationId, route]));
  const retiring = retirementHeaders(options.retirement);

  return async (request, peer) => {
    const startedAt = clock.now();
    const target = targetOf(request.url);
    const negotiation = negotiate({ method: request.method, target, headers: request.headers }, served);
    if (negotiation.kind === 'foreign') return foreign(request, peer, target, startedAt);
    return watch(request, askedOf(negotiation, target), () => protocol(request, peer, negotiation, target, startedAt));
  };

  async function protocol(
    request: Request,
    peer: Peer | undefined,
    negotiation: Protocol,
    target: string,
    startedAt: number,
  ): Promise<Answer> {
    const call = newProgress();
    const { status, headers, body } = await answer(request, peer, negotiation, target, call).catch((error: unknown) =>
      failureAnswer(error, options, errorEnvelope[negotiation.major]),
    );
    await recorded(call, { ...recordOf(request, negotiation), status, startedAt });
    const answered: Answer = {
      status,
      headers: {
        ...headers,
        ...call.headers,
        ...(negotiation.major === 1 && retiring),
        [VERSION]: negotiation.contract,
      },
      body,
    };
    return finished(request, answered);
  }

  /** As the caller takes it. */
  async function finished(request: Request, answered: Answer): Promise<Answer> {
    const coded = await codings.encode(request.headers, answered);
    return request.method === 'HEAD' ? withoutBody(coded) : coded;
  }

  async function recorded(
    { principal, scope, decided }: Progress,
    record: Omit<RequestRecord, 'principal' | 'scope' | 'decided' | 'latencyMs'>,
  ): Promise<void> {
    if (principal === undefined) return;
    const latencyMs = clock.now() - record.startedAt;
    await options.answered({ ...record, principal, scope, decided, latencyMs });
  }

  async function answer(
    request: Request,
    peer: Peer | undefined,
    negotiation: Protocol,
    target: string,
    call: Progress,
  ): Promise<Answer> {
    refuseDeclaredLength(request.headers, options.limits);
    if (negotiation.kind === 'refused') throw negotiation.error;

    const route = negotiation.kind === 'operation' ? routes.get(negotiation.operation.operationId) : undefined;
    if (route?.access !== 'public') await authenticate(request, peer, call, gateOf(route, negotiation.major));
    if (negotiation.kind === 'method-not-allowed') throw methodNotAllowed(negotiation.allow);
    if (negotiation.kind === 'absent') throw absent();
    if (route === undefined) throw UNSERVED[negotiation.major](negotiation.operation.operationId);

    const { major, params, operation } = negotiation;
    for (const scope of scopesOf(route.access)) {
      if (call.principal === undefined) throw new Error('A request passed authentication without a principal.');
      call.scope = scope;
      call.principal = await permitted(call, call.principal, scope, {
        action: route.operationId,
        resource: resourceIn(params) ?? route.operationId,
      });
    }
    const key = takesKey(operation, route.access) ? idempotencyKeyIn(request.headers, major) : undefined;
    const body = await bodyOf(request, route);
    const query = queryOf(target);
    const { principal } = call;
    const given = {
      ...{ major, params, query, headers: codings.plainTags(request.headers), principal, json: body?.json },
      decided: roles === undefined ? undefined : call.decided,
      gone: () => request.signal,
      judgeAgain: () => judgeAgain(request, peer, call),
    };
    const serve = async (keyed: Keyed) => answerOf(await route.serve({ ...given, ...keyed }));
    if (key === undefined || principal === undefined) return serve(UNKEYED);
    const mutation = { operation, major, params, query, principal, body: body?.bytes };
    return servedOnce(options.once, key, mutation, serve, (error) =>
      failureAnswer(error, options, errorEnvelope[major]),
    );
  }

  async function bodyOf(request: Request, { schema, isBodyOptional }: Route): Promise<JsonBody | undefined> {
    if (schema === undefined) return undefined;
    return isBodyOptional === true
      ? await readOptionalJson(request, options.limits)
      : await readJson(request, options.limits);
  }

  /** No request is counted, and nothing is recorded: this is still the same one. */
  async function judgeAgain(
    request: Request,
    peer: Peer | undefined,
    { principal: before, scope }: Progress,
  ): Promise<Principal | undefined> {
    // A proof that was made for one request would be taken for its own replay.
    if (before === undefined || scope === undefined || before.binding === 'dpop') return undefined;
    const { method, url, headers } = request;
    const outcome = await options.authenticator.authenticate({ method, url, headers, peer });
    if (outcome.kind === 'refused' || outcome.principal.credentialId !== before.credentialId) return undefined;
    const asked = { action: 'judge-again', resource: 'withheld' };
    return permitted(newProgress(), outcome.principal, scope, asked).catch((error: unknown) => {
      if (AuthError.is(error)) return undefined;
      throw error;
    });
  }

  async function authenticate(
    request: Request,
    peer: Peer | undefined,
    call: Progress,
    gate: Gate = { authenticator: options.authenticator },
  ): Promise<void> {
    const { method, url, headers } = request;
    const outcome = await gate.authenticator.authenticate({ method, url, headers, peer });
    if (outcome.kind === 'refused') throw gate.refused?.(outcome.error) ?? outcome.error;
    call.principal = outcome.principal;
    const decision = await options.limiter?.consume(outcome.principal.credentialId);
    call.headers = { ...outcome.headers, ...(decision && rateLimitHeaders(decision)) };
    if (decision?.allowed === false) throw decision.error;
  }

  /**
   * The caller as far as it may do this: with roles, in no more workspaces than one gives it.
   *
   * @throws {AuthError} `forbidden`
   */
  async function permitted(
    call: Progress,
    principal: Principal,
    scope: string,
    asked: { readonly action: string; readonly resource: string },
  ): Promise<Principal> {
    const byScope = authorize(principal, scope);
    const byRole = byScope.allowed ? await roles?.authorize(principal, scope) : undefined;
    call.decided = authorizationDecided(principal, asked, byRole ?? byScope);
    if (!byScope.allowed) throw byScope.error;
    if (byRole === undefined) return principal;
    if (!byRole.allowed) throw byRole.error;
    return { ...principal, tenancy: byRole.tenancy };
  }

  /** Outside of the protocol, so without its version. Documents are not watched: they are the same whoever asks. */
  async function foreign(request: Request, peer: Peer | undefined, target: string, startedAt: number): Promise<Answer> {
    const { method } = request;
    const path = target.split('?', 1)[0] ?? '';
    const found = options.vendor.find(method, path);
    const known = found === undefined ? documents.get(path) : undefined;
    if (known !== undefined) {
      return document(method, known).catch((error: unknown) =>
        failureAnswer(error, options, errorEnvelope[served.preferredMajor]),
      );
    }
    const route = found?.kind === 'route' ? options.vendor.prefix + found.route.path : undefined;
    return watch(request, { operation: undefined, route, major: undefined }, async () => {
      if (found === undefined) return plainError(404, 'not_found', 'There is nothing at this path.');
      if (found.kind === 'method-not-allowed') return notAllowed(found.allow);
      return ofVendor(request, peer, target, found, startedAt);
    });
  }

  async function ofVendor(
    request: Request,
    peer: Peer | undefined,
    target: string,
    { route, params }: Extract<MountMatch, { readonly kind: 'route' }>,
    startedAt: number,
  ): Promise<Answer> {
    const { method } = request;
    const major = served.preferredMajor;
    const call = newProgress();
    const { status, headers, body } = await vendor(request, peer, target, route, params, call).catch((error: unknown) =>
      failureAnswer(error, options, route.refusalBody ?? errorEnvelope[major]),
    );
    const traceId = traceIdOf(request);
    await recorded(call, { operation: 'host', method, path: route.path, major, traceId, status, startedAt });
    return { status, headers: { ...headers, ...call.headers }, body };
  }

  /** The steps of the protocol without its version. */
  async function vendor(
    request: Request,
    peer: Peer | undefined,
    target: string,
    route: MountRoute,
    params: Readonly<Record<string, string>>,
    call: Progress,
  ): Promise<Answer> {
    refuseDeclaredLength(request.headers, options.limits);
    await authenticate(request, peer, call);
    if (call.principal === undefined) throw new Error('A request passed authentication without a principal.');
    const caller = call.principal;
    const asked = { action: `host.${route.method.toLowerCase()}`, resource: resourceIn(params) ?? mountOf(route.path) };
    const permit = (scope: string): Promise<Principal> => {
      call.scope = scope;
      return permitted(call, caller, scope, asked);
    };
    const principal = route.scope === undefined ? caller : await permit(route.scope);
    const body = route.takesBody ? await readJson(request, options.limits) : undefined;
    const { headers } = request;
    const query = queryOf(target);
    const again = { ...UNKEYED, gone: () => request.signal, judgeAgain: () => judgeAgain(request, peer, call) };
    const given = {
      major: 2,
      params,
      query,
      headers,
      principal,
      decided: undefined,
      json: body?.json,
      ...again,
    } as const;
    return answerOf(await route.serve({ ...given, request, permit }));
  }

  async function document(method: string, read: () => Promise<Reply>): Promise<Answer> {
    if (method !== 'GET' && method !== 'HEAD') return notAllowed(['GET', 'HEAD']);
    const answer = answerOf(await read());
    return method === 'HEAD' ? withoutBody(answer) : answer;
  }
}

/** Who judges a caller, and how a refusal is told. */
interface Gate {
  readonly authenticator: Authenticator;
  readonly refused?: (error: AuthError) => Error;
}

/** Of a path that is a credential itself; undefined: the caller sends one of its own. */
function gateOf(route: Route | undefined, major: Major): Gate | undefined {
  if (route === undefined || !isPathCredential(route.access)) return undefined;
  const { authenticator, refused } = route.access;
  return { authenticator, refused: refused[major] };
}

function notAllowed(allow: readonly string[]): Answer {
  const refused = plainError(405, 'validation_error', `This path takes ${allow.join(', ')}.`);
  return { ...refused, headers: { ...refused.headers, allow: allow.join(', ') } };
}

type Protocol = Exclude<Negotiation, { readonly kind: 'foreign' }>;

/** Filled in as soon as it is known, so that refusals of a known caller are recorded too. */
interface Progress {
  principal: Principal | undefined;
  scope: string | undefined;
  decided: AuthorizationDecided | undefined;
  headers: Readonly<Record<string, string>>;
}

function newProgress(): Progress {
  return { principal: undefined, scope: undefined, decided: undefined, headers: {} };
}

const VERSION = VERSION_HEADER.toLowerCase();

/** They are the same on every response, so they are made once. */
function retirementHeaders(retirement: Retirement | undefined): Readonly<Record<string, string>> {
  const headers = new Headers();
  if (retirement !== undefined) stampRetirement(headers, retirement);
  return Object.fromEntries(headers);
}

/** Path and query of an absolute URL in the form that `Request` gives it. */
function targetOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('#', start);
  return start === -1 ? '/' : url.slice(start, end === -1 ? undefined : end);
}

function queryOf(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : target.slice(start));
}

/** An id of ours. Whatever else a path holds may be a credential in the wrong place, which no record repeats. */
function resourceIn({ runId, webhookId }: Readonly<Record<string, string>>): string | undefined {
  const id = runId ?? webhookId;
  if (id === undefined) return undefined;
  return MINTED_ID.test(id) ? id.replace(/%2f/i, '/') : 'withheld';
}

const MINTED_ID = /^(?:[A-Za-z0-9._~-]{1,128}(?:\/|%2F))?(?:run|whk)_[0-9a-z]{26}$/i;

/** The first segment of a path under `/host/<org>`. */
function mountOf(path: string): string {
  return path.split('/', 2)[1] ?? '';
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

function askedOf(negotiation: Protocol, target: string): Asked {
  const operation = 'operation' in negotiation ? negotiation.operation : undefined;
  const route = operation && (target.startsWith('/v1/') ? `/v1${operation.path}` : operation.path);
  return { operation: operation?.operationId, route, major: negotiation.major };
}

function recordOf(request: Request, negotiation: Protocol) {
  const operation = 'operation' in negotiation ? negotiation.operation : undefined;
  return {
    operation: operation?.operationId ?? negotiation.kind,
    method: request.method,
    path: operation?.path,
    major: negotiation.major,
    traceId: traceIdOf(request),
  };
}

function traceIdOf(request: Request): string | undefined {
  return TRACEPARENT.exec(request.headers.get('traceparent') ?? '')?.[1];
}

/** @see W3C Trace Context, section 3.2 */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
