import type { RoleAuthorizer } from '@svc/auth';
import type { Major, Negotiation, Operation, OperationId } from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import { HostError } from '../errors.ts';
import type { Once } from '../idempotency/once.ts';
import { isPathCredential, scopesOf } from './access.ts';
import { type Answer, answerOf } from './answer.ts';
import type { CallerSteps } from './caller.ts';
import type { ContentCodings } from './content-coding.ts';
import type { Endpoint, Exchange, Gate } from './exchange.ts';
import { failureAnswer } from './failure.ts';
import { type Keyed, servedOnce, takesKey, UNKEYED } from './idempotency.ts';
import type { FailureOptions } from './refusal.ts';
import type { Route } from './route.ts';
import { queryOf } from './target.ts';

export interface OperationEndpointOptions extends FailureOptions {
  readonly routes: readonly Route[];
  readonly gate: Gate;
  readonly roles: RoleAuthorizer | undefined;
  readonly codings: Pick<ContentCodings, 'plainTags'>;
  /** Executes requests that have an idempotency key. */
  readonly once: Once;
  readonly judgeAgain: CallerSteps['judgeAgain'];
}

/** A negotiation that led to the protocol. */
export type ProtocolNegotiation = Exclude<Negotiation, { readonly kind: 'foreign' }>;

/** Finds the endpoint of a protocol request: the route of its operation, or the refusal that it gets. */
export function operationEndpoints(options: OperationEndpointOptions): (negotiation: ProtocolNegotiation) => Endpoint {
  const routes = new Map<OperationId, Route>(options.routes.map((route) => [route.operationId, route]));
  /** The endpoints that were asked for, so that each is made once. They are at most the operations of the manifest. */
  const made: Readonly<Record<Major, Map<Operation, Endpoint>>> = { 1: new Map(), 2: new Map() };

  return (negotiation) => {
    const { kind, major } = negotiation;
    if (kind !== 'operation') return refusingEndpoint(options.gate, negotiation);
    const { operation } = negotiation;
    const route = routes.get(operation.operationId);
    if (route === undefined) return refusingEndpoint(options.gate, negotiation);
    const known = made[major].get(operation);
    if (known !== undefined) return known;
    const endpoint = operationEndpoint(options, route, operation, major);
    made[major].set(operation, endpoint);
    return endpoint;
  };
}

function operationEndpoint(
  options: OperationEndpointOptions,
  route: Route,
  operation: Operation,
  major: Major,
): Endpoint {
  const { operationId, path } = operation;
  return {
    major,
    gate: gateOf(route, major, options.gate),
    scopes: scopesOf(route.access),
    action: operationId,
    resource: operationId,
    takesKey: takesKey(operation, route.access),
    body: bodyOf(route),
    serve: (exchange) => serveOperation(options, route, operation, exchange),
    errorBody: errorEnvelope[major],
    operation: operationId,
    path,
  };
}

async function serveOperation(
  options: OperationEndpointOptions,
  route: Route,
  operation: Operation,
  exchange: Exchange,
): Promise<Answer> {
  const { arrival, endpoint, params, permitted: principal, idempotencyKey: key, body } = exchange;
  const { major } = endpoint;
  const { request, target } = arrival;
  const query = queryOf(target);
  const serve = async ({ keyName, keep }: Keyed): Promise<Answer> =>
    answerOf(
      await route.serve({
        major,
        params,
        query,
        headers: options.codings.plainTags(request.headers),
        principal,
        decided: options.roles === undefined ? undefined : exchange.decided,
        json: body?.json,
        gone: () => request.signal,
        judgeAgain: () => options.judgeAgain(exchange),
        keyName,
        keep,
      }),
    );
  if (key === undefined || principal === undefined) return serve(UNKEYED);
  const mutation = { operation, major, params, query, principal, body: body?.bytes };
  return servedOnce(options.once, key, mutation, serve, (error) => failureAnswer(error, options, errorEnvelope[major]));
}

/** An endpoint that answers every caller with a refusal. */
function refusingEndpoint(gate: Gate, negotiation: ProtocolNegotiation): Endpoint {
  const { kind, major } = negotiation;
  const operation = 'operation' in negotiation ? negotiation.operation : undefined;
  return {
    ...{ major, gate, scopes: [], action: 'none', resource: 'none', takesKey: false, body: 'none' },
    serve: neverServed,
    errorBody: errorEnvelope[major],
    operation: operation?.operationId ?? kind,
    path: operation?.path,
    ...(kind === 'refused' ? { versionError: negotiation.error } : { unserved: unserved(negotiation) }),
  };
}

async function neverServed(): Promise<Answer> {
  throw new Error('An endpoint that refuses every request was served.');
}

/** The authenticator of a path that is a credential itself, otherwise that of the host. */
function gateOf({ access }: Route, major: Major, hostGate: Gate): Gate | undefined {
  if (access === 'public') return undefined;
  if (!isPathCredential(access)) return hostGate;
  return { authenticator: access.authenticator, refused: access.refused[major] };
}

function bodyOf({ schema, isBodyOptional = false }: Route): Endpoint['body'] {
  if (schema === undefined) return 'none';
  return isBodyOptional ? 'optional' : 'required';
}

/** The refusal of an operation of the protocol that this host does not serve. */
const UNSERVED: Readonly<Record<Major, (operation: OperationId) => HostError>> = {
  1: (operation) =>
    new HostError('capability_not_provided', 'This host does not provide the operation.', { details: { operation } }),
  2: absent,
};

function absent(): HostError {
  return new HostError('not_found', 'This host does not serve the operation.', { details: undefined });
}

function unserved(negotiation: Exclude<ProtocolNegotiation, { readonly kind: 'refused' }>): HostError {
  if (negotiation.kind === 'method-not-allowed') return methodNotAllowed(negotiation.allow);
  return negotiation.kind === 'absent' ? absent() : UNSERVED[negotiation.major](negotiation.operation.operationId);
}

function methodNotAllowed(allow: readonly string[]): HostError {
  return new HostError('method_not_allowed', `This path takes ${allow.join(', ')}.`, {
    details: undefined,
    headers: { allow: allow.join(', ') },
  });
}
