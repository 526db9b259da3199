import { isOpaqueId, type Tenancy } from '@svc/auth';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { sessionState } from '../portal/session-state.ts';
import {
  PORTAL_ACCENTS,
  PORTAL_ACTIONS,
  PORTAL_CORNERS,
  PORTAL_SCHEMES,
  type PortalAction,
  type PortalSession,
  type PortalTheme,
} from '../ports/portal-sessions.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';

const TIME = z.iso.datetime();

/** Names, or `["*"]` for all of them. */
const names = (most: number, isName: (name: string) => boolean, rule: string) =>
  z
    .array(z.string().refine((name) => name === '*' || isName(name), rule))
    .min(1)
    .max(most)
    .refine((given) => given.length === 1 || !given.includes('*'), 'must be either ["*"] or names')
    .refine((given) => new Set(given).size === given.length, 'must not repeat an entry');

const theme = z
  .strictObject({
    scheme: z.enum(PORTAL_SCHEMES).default('auto').describe('`auto` follows the browser.'),
    accent: z.enum(PORTAL_ACCENTS).default('blue').describe('The colour of links and buttons.'),
    corners: z.enum(PORTAL_CORNERS).default('slight').describe('The corners of cards and buttons.'),
  })
  .describe('The look of the page. Each member is one of a closed set.')
  .meta({ id: 'PortalTheme' });

/** Returns whether a text is an origin that may embed the page: of https, or of http on the visitor's own machine. */
export function isEmbeddingOrigin(text: string): boolean {
  return text.length <= 255 && (HTTPS_ORIGIN.test(text) || LOCAL_ORIGIN.test(text)) && URL.canParse(text);
}

const HTTPS_ORIGIN =
  /^https:\/\/[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[1-9][0-9]{0,4})?$/;
const LOCAL_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[1-9][0-9]{0,4})?$/;

/** The body of a request for a session. */
export interface NewPortalSession {
  readonly workspaces?: string[] | undefined;
  readonly eventTypes: string[];
  readonly actions: PortalAction[];
  readonly origin?: string | undefined;
  readonly theme: PortalTheme;
  readonly expiresInSeconds: number;
}

/** The schema of a request for a session. */
export const newPortalSession: z.ZodType<NewPortalSession> = z
  .strictObject({
    workspaces: names(64, isOpaqueId, 'must be a workspace or "*"')
      .optional()
      .describe('The workspaces of the session. `["*"]`: all of the tenant. Default: those of the caller.'),
    eventTypes: names(50, (name) => name.length <= 128, 'must be an event type or "*"')
      .default(['*'])
      .describe('A subscription is in the session if it receives no other event type. In the spelling of major 2.'),
    actions: z
      .array(z.enum(PORTAL_ACTIONS))
      .min(1)
      .max(PORTAL_ACTIONS.length)
      .refine((actions) => actions.includes('view'), 'must contain view')
      .refine((actions) => new Set(actions).size === actions.length, 'must not repeat an entry')
      .describe('The actions of the session. `view` is one of them.'),
    origin: z
      .string()
      .refine(isEmbeddingOrigin, 'must be an origin such as https://app.example.com, without a path')
      .optional()
      .describe('The one origin that may embed the page. Default: none may.'),
    theme: theme.prefault({}),
    expiresInSeconds: z.int().min(60).max(3600).default(900).describe('The lifetime of the session.'),
  })
  .meta({ id: 'NewPortalSession' });

/** The schema of a session, for the callers that manage it. */
export const portalSession: z.ZodObject = z
  .object({
    sessionId: z.string(),
    state: z.enum(['created', 'open', 'expired', 'revoked']),
    mode: z.enum(['live', 'test']),
    workspaces: z.array(z.string()).describe('`*`: all of the tenant.'),
    eventTypes: z.array(z.string()).describe('`*`: every type.'),
    actions: z.array(z.enum(PORTAL_ACTIONS)),
    origin: z.string().optional().describe('The one origin that may embed the page. Absent: none may.'),
    theme,
    createdBy: z.string().describe('The principal that created it.'),
    createdAt: TIME,
    expiresAt: TIME,
    exchangedAt: TIME.optional().describe('The time at which its code was exchanged.'),
    revokedAt: TIME.optional(),
  })
  .meta({ id: 'PortalSession' });

/** The schema of the answer to a request for a session. */
export const createdPortalSession: z.ZodType = z
  .object({
    session: portalSession,
    url: z.string().describe('The address of the page with the one-time code in its fragment. Shown once.'),
    code: z.string().describe('The one-time code, for clients without the page. Shown once.'),
    codeExpiresAt: TIME,
  })
  .meta({ id: 'CreatedPortalSession' });

/** The schema of a page of sessions. */
export const portalSessions: z.ZodType = z
  .object({ sessions: z.array(portalSession), nextBefore: z.string().optional() })
  .meta({ id: 'PortalSessions' });

/** The schema of a session, for its holder. */
export const heldSession: z.ZodObject = portalSession
  .omit({ createdBy: true, createdAt: true, exchangedAt: true, revokedAt: true, state: true })
  .meta({ id: 'HeldPortalSession' });

/** The body of an exchange. */
export const codeExchange: z.ZodType<{ code: string; origin?: string | null | undefined }> = z
  .strictObject({
    code: z.string().max(256).describe('The one-time code of the session.'),
    origin: z
      .string()
      .max(255)
      .nullable()
      .optional()
      .describe(
        'The origin that embeds the client; null when none does. One that is not that of the session is refused.',
      ),
  })
  .meta({ id: 'PortalCodeExchange' });

/** The schema of the answer to an exchange. */
export const exchangedCode: z.ZodType = z
  .object({
    token: z.string().describe('The bearer token of the session. Shown once.'),
    session: heldSession,
  })
  .meta({ id: 'ExchangedPortalCode' });

/** Returns the stored names of event types in the spelling of major 2, and the problems of those that are refused. */
export function storedEventTypes(
  given: readonly string[],
  subscribable: SubscribableEvents,
): { readonly eventTypes: PortalSession['eventTypes'] } | { readonly problem: string; readonly index: number } {
  if (given.includes('*')) return { eventTypes: 'all' };
  const eventTypes: string[] = [];
  for (const [index, name] of given.entries()) {
    const named = subscribable.named(2, name);
    if ('problem' in named) return { problem: named.problem, index };
    eventTypes.push(named.type);
  }
  return { eventTypes };
}

/** A session for the callers that manage it. */
export function sessionView(session: PortalSession, now: number): JsonObject {
  const { createdAt, exchangedAt, revokedAt, creator } = session;
  return {
    ...heldView(session),
    state: sessionState(session, now),
    createdBy: creator.principal,
    createdAt: timeText(createdAt),
    ...(exchangedAt !== undefined && { exchangedAt: timeText(exchangedAt) }),
    ...(revokedAt !== undefined && { revokedAt: timeText(revokedAt) }),
  };
}

/** A session for its holder. */
export function heldView({
  sessionId,
  tenancy,
  eventTypes,
  actions,
  origin,
  theme,
  expiresAt,
}: PortalSession): JsonObject {
  return {
    sessionId,
    mode: tenancy.mode,
    workspaces: listOf(tenancy.workspaces),
    eventTypes: listOf(eventTypes),
    actions: [...actions],
    ...(origin !== undefined && { origin }),
    theme: { ...theme },
    expiresAt: timeText(expiresAt),
  };
}

/** The workspaces of a request, as a session stores them. */
export function reachOf(workspaces: readonly string[] | undefined): Tenancy['workspaces'] | undefined {
  return workspaces?.includes('*') === true ? 'all' : workspaces;
}

function listOf(names: 'all' | readonly string[]): string[] {
  return names === 'all' ? ['*'] : [...names];
}

export function timeText(time: number): string {
  return new Date(time).toISOString();
}
