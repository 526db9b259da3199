import type { Major } from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import { answerOf } from './answer.ts';
import type { CallerSteps } from './caller.ts';
import type { Endpoint, Exchange, Gate } from './exchange.ts';
import { UNKEYED } from './idempotency.ts';
import type { MountCall, MountRoute } from './route.ts';
import { queryOf } from './target.ts';

export interface MountEndpointOptions extends Pick<CallerSteps, 'permit' | 'judgeAgain'> {
  readonly gate: Gate;
  /** The major whose error envelope is used where a mount has none of its own. */
  readonly preferredMajor: Major;
}

/** The endpoint of a route under `/host/<org>`. It belongs to no major, so it takes no idempotency key. */
export function mountEndpoint(options: MountEndpointOptions, route: MountRoute): Endpoint {
  return {
    major: options.preferredMajor,
    gate: options.gate,
    scopes: route.scope === undefined ? [] : [route.scope],
    action: `host.${route.method.toLowerCase()}`,
    resource: firstSegment(route.path),
    takesKey: false,
    body: route.takesBody ? 'required' : 'none',
    serve: async (exchange) => answerOf(await route.serve(mountCall(options, exchange))),
    errorBody: route.refusalBody ?? errorEnvelope[options.preferredMajor],
    operation: 'host',
    path: route.path,
  };
}

function mountCall({ permit, judgeAgain }: MountEndpointOptions, exchange: Exchange): MountCall {
  const { arrival, params, caller, permitted = caller, body } = exchange;
  const { request, target } = arrival;
  return {
    major: 2,
    params,
    query: queryOf(target),
    headers: request.headers,
    principal: permitted,
    decided: undefined,
    json: body?.json,
    ...UNKEYED,
    gone: () => request.signal,
    judgeAgain: () => judgeAgain(exchange),
    request,
    permit: (scope) => permit(exchange, caller, scope),
  };
}

/** The first segment of a path under `/host/<org>`. */
function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? '';
}
