import { z } from 'zod';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import { type CreateSessionOptions, createSession } from '../portal/create-session.ts';
import { endSession, reachedSession } from '../portal/end-session.ts';
import type { PortalSession } from '../ports/portal-sessions.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import {
  createdPortalSession,
  newPortalSession,
  portalSession,
  portalSessions,
  reachOf,
  sessionView,
  storedEventTypes,
  timeText,
} from '../wire/portal-session.ts';
import { LIMIT, ok, PRIVATE, pageLimit } from './owned-webhook.ts';
import { requireNames } from './query-names.ts';

export interface PortalSessionRoutesOptions extends CreateSessionOptions {
  /** The address of the page. */
  readonly pageUrl: string;
  /** The event types that can be subscribed to. */
  readonly subscribable: SubscribableEvents;
}

/**
 * The routes under `/host/<org>/portal-sessions`: a caller with the scope `webhooks:manage` creates sessions within its own
 * reach, lists, reads and revokes them.
 */
export function portalSessionRoutes(options: PortalSessionRoutesOptions): MountRoute[] {
  const { store, clock } = options;
  return [
    creation(options),
    mountRoute({
      method: 'GET',
      path: '/portal-sessions',
      scope: SCOPE,
      describes: {
        operationId: 'listPortalSessions',
        summary: 'List portal sessions',
        description:
          'The sessions within the workspaces of the caller, newest first. A session is deleted a day after its expiry.',
        query: { limit: LIMIT, before: z.string().optional().describe('The `nextBefore` of the previous page.') },
        answers: { 200: json('A page of sessions.', portalSessions, PRIVATE) },
      },
      async serve({ principal, query }) {
        requireNames(query, ['limit', 'before']);
        const limit = pageLimit(query);
        const page = { before: beforeIn(query), limit: limit + 1 };
        const found = await store.portalSessions.list(principal.tenancy, page);
        const shown = found.slice(0, limit);
        const next = found.length > limit ? shown.at(-1)?.sessionId : undefined;
        const sessions = shown.map((session) => sessionView(session, clock.now()));
        return ok({ sessions, ...(next !== undefined && { nextBefore: next }) });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/portal-sessions/{sessionId}',
      scope: SCOPE,
      describes: {
        operationId: 'readPortalSession',
        summary: 'Read a portal session',
        description: 'A session without its code and its token.',
        path: SESSION,
        answers: { 200: json('The session.', portalSession, PRIVATE) },
        errors: ['not_found'],
      },
      async serve({ principal, params }) {
        const session = await reachedSession(options, principal, params.sessionId ?? '');
        return ok(sessionView(session, clock.now()));
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/portal-sessions/{sessionId}/revoke',
      scope: SCOPE,
      describes: {
        operationId: 'revokePortalSession',
        summary: 'Revoke a portal session',
        description:
          'No request of the session that begins after the answer is accepted, on any host of the store. Safe to repeat.',
        path: SESSION,
        answers: { 200: json('The session.', portalSession, PRIVATE) },
        errors: ['not_found'],
      },
      async serve({ principal, params }) {
        const session = await endSession(options, principal, params.sessionId ?? '');
        return ok(sessionView(session, clock.now()));
      },
    }),
  ];
}

const SCOPE = 'webhooks:manage';
const SESSION = { sessionId: z.string().min(1).max(128).describe('The id of the session.') };

function creation(options: PortalSessionRoutesOptions): MountRoute {
  return mountRoute({
    method: 'POST',
    path: '/portal-sessions',
    scope: SCOPE,
    takesBody: true,
    describes: {
      operationId: 'createPortalSession',
      summary: 'Create a portal session',
      description:
        'Makes a session for a customer, with a URL that works once within a minute. The session is in the tenant and mode ' +
        'of the caller, has no workspace that the caller lacks, and ends with the credential of the caller at the latest. ' +
        'A repeated request makes another session: neither the code nor the token is stored.',
      body: newPortalSession,
      example: {
        workspaces: ['acme-prod'],
        eventTypes: ['run.completed', 'run.failed'],
        actions: ['view', 'redrive', 'test'],
        origin: 'https://app.acme.example',
        theme: { accent: 'teal' },
        expiresInSeconds: 900,
      },
      answers: { 201: json('The session, its URL and its code.', createdPortalSession, PRIVATE) },
      errors: ['forbidden'],
    },
    async serve({ principal, json: body }) {
      const { workspaces, eventTypes, actions, origin, theme, expiresInSeconds } = parse(newPortalSession, body);
      const types = storedEventTypes(eventTypes, options.subscribable);
      if ('problem' in types) throw invalid({ field: `eventTypes[${types.index}]`, problem: types.problem });
      const { session, code } = await createSession(options, principal, {
        ...{ ...types, actions, origin, theme },
        workspaces: reachOf(workspaces),
        lifetimeMs: expiresInSeconds * 1000,
      });
      return ok(
        {
          session: sessionView(session, options.clock.now()),
          url: urlOf(options.pageUrl, session, code),
          code,
          codeExpiresAt: timeText(session.codeExpiresAt),
        },
        201,
      );
    },
  });
}

/** The code is in the fragment, so that no log and no referrer has it. The page is served for the origin in the query. */
function urlOf(pageUrl: string, { origin }: PortalSession, code: string): string {
  const query = origin === undefined ? '' : `?origin=${encodeURIComponent(origin)}`;
  return `${pageUrl}${query}#code=${code}`;
}

/** Reads the id in the query. */
function beforeIn(query: URLSearchParams): string | undefined {
  const before = query.get('before') ?? undefined;
  if (before === undefined || /^pts_[a-z0-9]{1,64}$/.test(before)) return before;
  throw invalid({ field: 'query.before', problem: 'must be the nextBefore of a page' });
}
