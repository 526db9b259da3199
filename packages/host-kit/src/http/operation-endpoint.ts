import type { RoleAuthorizer } from '@svc/auth';
import type { Major, Negotiation, OperationId } from '@svc/versioning';
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
import { resourceIn } from './resource.ts';
import type { Call, Route } from './route.ts';
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

  return (negotiation) => {
    const { kind, major } = negotiation;
    const operation = 'operation' in negotiation ? negotiation.operation : undefined;
    const recordedAs = { operation: operation?.operationId ?? kind, path: operation?.path };
    const endpoint = { major, errorBody: errorEnvelope[major], recordedAs };
    if (kind === 'refused') return { ...endpoint, ...refusing(options.gate), versionError: negotiation.error };
    if (kind === 'method-not-allowed') {
      return { ...endpoint, ...refusing(options.gate), unserved: methodNotAllowed(negotiation.allow) };
    }
    if (kind === 'absent') return { ...endpoint, ...refusing(options.gate), unserved: absent() };
    const { operationId } = negotiation.operation;
    const route = routes.get(operationId);
    if (route === undefined) return { ...endpoint, ...refusing(options.gate), unserved: UNSERVED[major](operationId) };
    return {
      ...endpoint,
      gate: gateOf(route, major, options.gate),
      scopes: scopesOf(route.access),
      action: operationId,
      resource: resourceIn(negotiation.params) ?? operationId,
      takesKey: takesKey(negotiation.operation, route.access),
      body: bodyOf(route),
      serve: (exchange) => serveOperation(options, route, negotiation, exchange),
    };
  };
}

type NegotiatedOperation = Extract<Negotiation, { readonly kind: 'operation' }>;

async function serveOperation(
  options: OperationEndpointOptions,
  route: Route,
  { major, params, operation }: NegotiatedOperation,
  exchange: Exchange,
): Promise<Answer> {
  const { arrival, permitted: principal, idempotencyKey: key, body } = exchange;
  const { request, target } = arrival;
  const query = queryOf(target);
  const given: Omit<Call, keyof Keyed> = {
    ...{ major, params, query, principal, json: body?.json },
    headers: options.codings.plainTags(request.headers),
    decided: options.roles === undefined ? undefined : exchange.decided,
    gone: () => request.signal,
    judgeAgain: () => options.judgeAgain(exchange),
  };
  const serve = async (keyed: Keyed): Promise<Answer> => answerOf(await route.serve({ ...given, ...keyed }));
  if (key === undefined || principal === undefined) return serve(UNKEYED);
  const mutation = { operation, major, params, query, principal, body: body?.bytes };
  return servedOnce(options.once, key, mutation, serve, (error) => failureAnswer(error, options, errorEnvelope[major]));
}

/** The rest of an endpoint that answers every caller with a refusal. */
function refusing(
  gate: Gate,
): Pick<Endpoint, 'gate' | 'scopes' | 'action' | 'resource' | 'takesKey' | 'body' | 'serve'> {
  return { gate, scopes: [], action: 'none', resource: 'none', takesKey: false, body: 'none', serve: neverServed };
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

function methodNotAllowed(allow: readonly string[]): HostError {
  return new HostError('method_not_allowed', `This path takes ${allow.join(', ')}.`, {
    details: undefined,
    headers: { allow: allow.join(', ') },
  });
}
