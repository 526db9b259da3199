import type { RoleAuthorizer } from '@svc/auth';
import type { Major, Negotiation, Operation, OperationId, Served } from '@svc/versioning';
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
import type { OnServedRead } from './served-read.ts';
import { queryOf } from './target.ts';

export interface OperationEndpointOptions extends FailureOptions {
  readonly routes: readonly Route[];
  readonly served: Pick<Served, 'majors'>;
  readonly gate: Gate;
  readonly roles: RoleAuthorizer | undefined;
  readonly codings: Pick<ContentCodings, 'plainTags'>;
  /** Executes requests that have an idempotency key. */
  readonly once: Once;
  readonly judgeAgain: CallerSteps['judgeAgain'];
  readonly onServedRead: OnServedRead | undefined;
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
    if (kind !== 'operation') return refusingEndpoint(options, negotiation);
    const { operation } = negotiation;
    const route = routes.get(operation.operationId);
    if (route === undefined) return refusingEndpoint(options, negotiation);
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
    operationId,
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
  if (key === undefined || principal === undefined) {
    const answer = await serve(UNKEYED);
    const { status, body: content } = answer;
    const isRead = operation.method === 'GET' && status === 200 && principal !== undefined;
    if (isRead && content !== undefined && !(content instanceof ReadableStream))
      options.onServedRead?.({ route, major, params, query, principal, decided: exchange.decided, body: content });
    return answer;
  }
  const mutation = { operation, major, params, query, principal, body: body?.bytes };
  return servedOnce(options.once, key, mutation, serve, (error) => failureAnswer(error, options, errorEnvelope[major]));
}

/** An endpoint that answers every caller with a refusal. */
function refusingEndpoint(options: OperationEndpointOptions, negotiation: ProtocolNegotiation): Endpoint {
  const { gate } = options;
  const { kind, major } = negotiation;
  const operation = 'operation' in negotiation ? negotiation.operation : undefined;
  return {
    ...{ major, gate, scopes: [], action: 'none', resource: 'none', takesKey: false, body: 'none' },
    serve: neverServed,
    errorBody: errorEnvelope[major],
    operation: operation?.operationId ?? kind,
    path: operation?.path,
    ...(kind === 'refused' ? { versionError: negotiation.error } : { unserved: unserved(negotiation, options) }),
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

type Unserved = Exclude<ProtocolNegotiation, { readonly kind: 'refused' }>;

/** The refusal of an operation of the protocol that this host does not serve, or not under this path or major. */
function unserved(negotiation: Unserved, options: ElsewhereOptions): HostError {
  const { kind, major } = negotiation;
  if (kind === 'method-not-allowed')
    return methodNotAllowed(negotiation.allow, elsewhere(negotiation.elsewhere, options));
  if (kind === 'absent') return absent(elsewhere(negotiation.operation, options));
  return UNSERVED[major](negotiation.operation.operationId);
}

/** Operations that are optional in major 1. Others belong to a capability there. */
const NOT_FOUND_IN_MAJOR_1: ReadonlySet<OperationId> = new Set<OperationId>(['diffRun', 'readAncestry']);

const UNSERVED: Readonly<Record<Major, (operation: OperationId) => HostError>> = {
  1: (operation) =>
    NOT_FOUND_IN_MAJOR_1.has(operation)
      ? absent(undefined)
      : new HostError('capability_not_provided', 'This host does not provide the operation.', {
          details: { operation },
        }),
  2: () => absent(undefined),
};

function absent(remedy: string | undefined): HostError {
  const message = remedy ?? 'This host does not serve the operation.';
  return new HostError('not_found', message, { details: undefined });
}

function methodNotAllowed(allow: readonly string[], remedy: string | undefined): HostError {
  const methods = allow.join(', ');
  const message = `This path takes ${methods}.${remedy === undefined ? '' : ` ${remedy}`}`;
  const fields = [{ field: 'method', problem: `must be ${allow.join(' or ')}` }];
  return new HostError('validation_error', message, { status: 405, details: { fields }, headers: { allow: methods } });
}

type ElsewhereOptions = Pick<OperationEndpointOptions, 'routes' | 'served'>;

/** The request that reaches the operation in the other major; undefined where the host does not serve it. */
function elsewhere(operation: Operation | undefined, { routes, served }: ElsewhereOptions): string | undefined {
  const major = operation?.majors.find((each) => served.majors.has(each));
  if (operation === undefined || major === undefined) return undefined;
  const { operationId, method, path } = operation;
  if (!routes.some((route) => route.operationId === operationId)) return undefined;
  return `Major ${major} has the operation: send ${REQUEST[major](method, path)}.`;
}

const REQUEST: Readonly<Record<Major, (method: string, path: string) => string>> = {
  1: (method, path) => `${method} /v1${path}`,
  2: (method, path) => `${method} ${path} with SVC-Version: 2`,
};
