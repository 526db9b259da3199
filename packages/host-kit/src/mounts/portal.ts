import type { Authenticator } from '@svc/auth';
import { HostError, invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { publicMountRoute } from '../http/public-route.ts';
import { type MountCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import { endSession, reachedSession } from '../portal/end-session.ts';
import { exchangeCode, sessionOfCode } from '../portal/exchange-code.ts';
import { reachedStore } from '../portal/reached-store.ts';
import { sessionHolder } from '../portal/session-holder.ts';
import { type SessionReach, sessionReach, subscribableWithin } from '../portal/session-reach.ts';
import type { PortalAction, PortalSession } from '../ports/portal-sessions.ts';
import type { Random } from '../ports/random.ts';
import { managed } from '../webhooks/operator-actions.ts';
import { type RotateOptions, rotateSecret } from '../webhooks/rotate.ts';
import { codeExchange, exchangedCode, heldSession, heldView } from '../wire/portal-session.ts';
import { rotatedBody, rotatedSecret, rotation, rotationExample } from '../wire/webhook.ts';
import { deadLetterFacetRoutes } from './dead-letter-facets.ts';
import { type DeliveryRoutesOptions, deliveryRoutes } from './deliveries.ts';
import { eventTypeRoutes } from './event-types.ts';
import { type OperatorRoutesOptions, operatorRoutes } from './operator.ts';
import { ADDRESS_ERRORS, ADDRESSED, idIn, ok, PRIVATE } from './owned-webhook.ts';
import { type WebhookJobRoutesOptions, webhookJobRoutes } from './webhook-jobs.ts';

export interface PortalRoutesOptions
  extends DeliveryRoutesOptions,
    OperatorRoutesOptions,
    WebhookJobRoutesOptions,
    Omit<RotateOptions, 'dispatcher' | 'secrets'> {
  readonly random: Random;
  readonly secrets: RotateOptions['secrets'];
  /** Authenticates the tokens of sessions, and nothing else. */
  readonly authenticator: Authenticator;
  readonly operationalEvents: readonly string[];
}

/**
 * The routes under `/host/<org>/portal`: the exchange of a code, the session itself, and the operations that a session may
 * call. They take the token of a session alone, and no other route takes it.
 *
 * Each operation is that of an operator, on a view of the store that has nothing beyond the reach of the session. An
 * operation that is not listed in `ACTIONS` does not exist here.
 */
export function portalRoutes(options: PortalRoutesOptions): MountRoute[] {
  const { authenticator } = options;
  const templates = operationsOf(options).flatMap((route) => {
    const id = operationIdOf(route);
    const action = ACTIONS.get(id);
    return action === undefined ? [] : [{ route, id, action }];
  });
  return [
    exchange(options),
    ...ownRoutes(options),
    ...templates.map(({ route, id, action }): MountRoute => {
      const { scope: _, ...template } = route;
      return {
        ...template,
        path: `/portal${route.path}`,
        authenticator,
        async serve(call) {
          const session = await sessionOf(options, call);
          if (!session.actions.includes(action)) throw notGranted(action);
          const reach = sessionReach(session);
          const own = operationsOf(within(options, reach)).find((each) => operationIdOf(each) === id);
          if (own === undefined) throw new Error(`The portal has lost its operation ${id}.`);
          return own.serve({ ...call, json: id === 'redriveMatching' ? ownTypes(call.json, reach) : call.json });
        },
      };
    }),
  ];
}

/** The operations of a session by their names, with the action that each belongs to. */
const ACTIONS: ReadonlyMap<string, PortalAction> = new Map<string, PortalAction>([
  ['listOperatorWebhooks', 'view'],
  ['readOperatorWebhook', 'view'],
  ['countTenantDeadLetters', 'view'],
  ['countDeadLetters', 'view'],
  ['listOwnedDeliveries', 'view'],
  ['readOwnedDelivery', 'view'],
  ['listWebhookJobs', 'view'],
  ['readWebhookJob', 'view'],
  ['listEventTypes', 'view'],
  ['resendDelivery', 'redrive'],
  ['redriveMatching', 'redrive'],
  ['pauseWebhookJob', 'redrive'],
  ['resumeWebhookJob', 'redrive'],
  ['cancelWebhookJob', 'redrive'],
  ['editOperatorWebhook', 'edit'],
  ['pauseWebhook', 'pause'],
  ['resumeWebhook', 'pause'],
  ['testWebhook', 'test'],
  ['rotateWebhookSecret', 'rotate'],
]);

function operationsOf(options: PortalRoutesOptions): readonly MountRoute[] {
  const { operationalEvents, subscribable } = options;
  return [
    ...deadLetterFacetRoutes(options),
    ...operatorRoutes(options),
    ...webhookJobRoutes(options),
    ...deliveryRoutes(options),
    ...eventTypeRoutes(operationalEvents, subscribable),
    rotationRoute(options),
  ];
}

function operationIdOf({ describes }: MountRoute): string {
  return typeof describes === 'object' ? describes.operationId : '';
}

/** The options of the operations, on what a session reaches. */
function within(options: PortalRoutesOptions, reach: SessionReach): PortalRoutesOptions {
  const store = reachedStore(options.store, reach);
  return {
    ...options,
    store,
    subscribable: subscribableWithin(options.subscribable, reach),
    reachesEvent: reach.reachesEvent,
    async sendTest(request) {
      await managed(store, request.principal, request.webhookId);
      return options.sendTest(request);
    },
  };
}

/** Limits a redrive to the event types of the session: a subscription may have dead letters of a type that it had before. */
function ownTypes(json: unknown, { names, reachesEvent }: SessionReach): unknown {
  if (names === undefined || typeof json !== 'object' || json === null) return json;
  const types: unknown = Reflect.get(json, 'types');
  if (types === undefined) return { ...json, types: [...names] };
  // The schema of the body refuses what is no list of texts.
  if (!Array.isArray(types) || types.every((type) => typeof type !== 'string' || reachesEvent(type))) return json;
  throw invalid({ field: 'types', problem: 'must be event types of the session' });
}

/** Reads the session again: it may have been revoked since the authentication. */
function sessionOf(options: PortalRoutesOptions, { principal }: MountCall): Promise<PortalSession> {
  return reachedSession(options, principal, principal.credentialId);
}

function notGranted(action: PortalAction): HostError {
  return new HostError('forbidden', `The session has not the action ${action}.`, { details: undefined });
}

function exchange(options: PortalRoutesOptions): MountRoute {
  return publicMountRoute<PortalSession>({
    method: 'POST',
    path: '/portal/exchange',
    takesBody: true,
    limits: { maxBodyBytes: 2048 },
    describes: {
      operationId: 'exchangePortalCode',
      summary: 'Exchange a code',
      description: 'Exchanges the one-time code of a session for its token. A code works once, within a minute.',
      body: codeExchange,
      example: { code: `svc_portal_code_${'0'.repeat(64)}` },
      answers: { 200: json('The token and the session.', exchangedCode, PRIVATE) },
      errors: ['unauthenticated'],
    },
    async verify({ body }) {
      const session = await sessionOfCode(options, parse(codeExchange, jsonIn(body)));
      return { principal: sessionHolder(session), value: session };
    },
    async serve(_call, session) {
      const token = await exchangeCode(options, session);
      return ok({ token, session: heldView(session) });
    },
  });
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw invalid({ field: 'body', problem: 'must be JSON' });
  }
}

function ownRoutes(options: PortalRoutesOptions): MountRoute[] {
  const { authenticator } = options;
  return [
    mountRoute({
      method: 'GET',
      path: '/portal/session',
      authenticator,
      describes: {
        operationId: 'readHeldPortalSession',
        summary: 'Read the session',
        description: 'The session of the token: its reach, its actions and its expiry.',
        answers: { 200: json('The session.', heldSession, PRIVATE) },
      },
      serve: async (call) => ok(heldView(await sessionOf(options, call))),
    }),
    mountRoute({
      method: 'POST',
      path: '/portal/session/end',
      authenticator,
      describes: {
        operationId: 'endHeldPortalSession',
        summary: 'End the session',
        description: 'Revokes the session of the token.',
        answers: { 200: json('The session.', heldSession, PRIVATE) },
      },
      serve: async (call) => ok(heldView(await endSession(options, call.principal, call.principal.credentialId))),
    }),
  ];
}

function rotationRoute(options: RotateOptions): MountRoute {
  return mountRoute({
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate-secret',
    takesBody: true,
    describes: {
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a webhook',
      description:
        'For subscriptions with `standard-webhooks-1`. Until the replaced secret expires, deliveries are signed with both.',
      path: ADDRESSED,
      body: rotation,
      example: rotationExample,
      answers: { 200: json('The new secret signs deliveries from now on.', rotatedSecret, PRIVATE) },
      errors: ADDRESS_ERRORS,
    },
    // Safe without an idempotency key: a repetition with the same secret changes nothing.
    async serve(call) {
      const { secret } = parse(rotation, call.json);
      return ok(rotatedBody(await rotateSecret(options, call.principal, idIn(call), secret)));
    },
  });
}
