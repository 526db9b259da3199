import type { Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import type { Once } from '../idempotency/once.ts';
import { type Answer, answerOf } from './answer.ts';
import type { CallerSteps } from './caller.ts';
import type { Endpoint, Exchange, Gate } from './exchange.ts';
import { failureAnswer } from './failure.ts';
import { UNKEYED } from './idempotency.ts';
import { effectOnce } from './mount-idempotency.ts';
import { type Admit, permitAnonymous } from './public-endpoint.ts';
import type { FailureOptions } from './refusal.ts';
import type { MountCall, MountRoute } from './route.ts';
import { queryOf } from './target.ts';

export interface MountEndpointOptions extends Pick<CallerSteps, 'permit' | 'judgeAgain'>, FailureOptions {
  readonly gate: Gate;
  /** Executes requests that have an idempotency key. */
  readonly once: Once;
  /** Admits requests to public routes. */
  readonly admit: Admit;
  /** The time in ms since the epoch. */
  readonly now: () => number;
}

/** The address under which a route was found. */
export interface MountAddress {
  /** The major whose error envelope is used where a mount has none of its own. */
  readonly major: Major;
  /** The template of the whole path. */
  readonly path: string;
  /** The refusal of the requested version. */
  readonly versionError?: Error | undefined;
}

/** The endpoint of a route under `/host/<org>`, which belongs to no major, or of its twin under `/v1`. */
export function mountEndpoint(
  options: MountEndpointOptions,
  route: MountRoute,
  { major, path, versionError }: MountAddress,
): Endpoint {
  const { verification, authenticator } = route;
  const gate = authenticator === undefined ? options.gate : { authenticator };
  return {
    major,
    versionError,
    gate: verification === undefined ? gate : undefined,
    scopes: route.scope === undefined ? [] : [route.scope],
    action: `host.${route.method.toLowerCase()}`,
    resource: firstSegment(route.path),
    // Key and body of a public route are read when the client has passed its limit.
    takesKey: route.takesKey === true && verification === undefined,
    body: route.takesBody && verification === undefined ? 'required' : 'none',
    takesJson: route.takesBody,
    serve: (exchange) => serve(options, route, exchange),
    errorBody: route.refusalBody ?? errorEnvelope[major],
    operation: 'host',
    operationId: typeof route.describes === 'object' ? route.describes.operationId : undefined,
    path,
  };
}

async function serve(options: MountEndpointOptions, route: MountRoute, exchange: Exchange): Promise<Answer> {
  const { verification } = route;
  if (verification === undefined) return answerOf(await route.serve(mountCall(options, route, exchange)));
  const opened = await options.admit(exchange, route, verification);
  if (opened.principal === undefined) return answerOf(opened.reply);
  const { principal } = opened;
  const call = mountCall(options, route, exchange);
  return answerOf(
    await opened.serve({
      ...call,
      judgeAgain: async () =>
        options.now() < (principal.expiresAt ?? Number.POSITIVE_INFINITY) ? principal : undefined,
      permit: async (scope) =>
        principal.kind === 'anonymous'
          ? permitAnonymous(exchange, principal, verification.grants, scope)
          : options.permit(exchange, principal, scope),
    }),
  );
}

function mountCall(options: MountEndpointOptions, route: MountRoute, exchange: Exchange): MountCall {
  const { arrival, endpoint, params, caller, permitted = caller, body, idempotencyKey: key } = exchange;
  const { request, target } = arrival;
  const query = queryOf(target);
  const effect = { route, params, query, principal: permitted, key, body: body?.bytes };
  return {
    major: 2,
    params,
    query,
    headers: request.headers,
    principal: permitted,
    decided: undefined,
    json: body?.json,
    ...UNKEYED,
    gone: () => request.signal,
    judgeAgain: () => options.judgeAgain(exchange),
    request,
    permit: (scope): Promise<Principal> => options.permit(exchange, caller, scope),
    once: (perform, reply) =>
      effectOnce(options.once, effect, {
        perform,
        reply,
        refused: (error) => failureAnswer(error, options, endpoint.errorBody),
      }),
  };
}

/** The first segment of a path under `/host/<org>`. */
function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? '';
}
