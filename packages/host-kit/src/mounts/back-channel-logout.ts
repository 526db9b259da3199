import { z } from 'zod';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import type { RefusedRequest } from '../http/refusal.ts';
import type { MountRoute, Reply } from '../http/route.ts';
import type { PublicRouteLimits, UnverifiedRequest } from '../http/verification.ts';
import type { Json } from '../json.ts';
import type { MountDefinition } from './mount.ts';

/** Options of `backChannelLogoutMount`. */
export interface BackChannelLogoutOptions {
  /** Handles the form of an issuer: `logoutReceiver` of `@svc/auth/logout`, with the `access` of the host as its deny list. */
  readonly receive: (form: string) => Promise<LogoutAnswer>;
  /**
   * The requests of one client address. Further ones are answered 429. Issuers send a logout for each session, so it is
   * more than that of other public routes. Default 600 in 60 s.
   */
  readonly perClient?: PublicRouteLimits['perClient'];
}

/** The answer of a receiver. */
export interface LogoutAnswer {
  /** 200 when the credentials are withdrawn, 400 otherwise. */
  readonly status: number;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/**
 * Makes the mount that receives back-channel logouts at `POST /host/<org>/logout`. Register its URL at the issuer as
 * `backchannel_logout_uri`. When it answers 200, no host of the store accepts a token of the session.
 *
 * @example
 * const receive = logoutReceiver({ issuers, denyList: access, replays, fetch: guardedFetch() });
 * const host = createHost({ ...options, access, mounts: [backChannelLogoutMount({ receive })] });
 * @see OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8
 */
export function backChannelLogoutMount({
  receive,
  perClient = { limit: 600, windowSeconds: 60 },
}: BackChannelLogoutOptions): MountDefinition {
  const route: MountRoute = {
    method: 'POST',
    path: '/logout',
    takesBody: false,
    describes: {
      operationId: 'receiveLogout',
      summary: 'End a session',
      description:
        'An issuer of tokens sends the form `logout_token=…`. No request that begins after the answer 200 is accepted with ' +
        'a token of the session, on any host of the store. 400 when the logout token is refused, or the host failed.',
      content: {
        'application/x-www-form-urlencoded': z.object({ logout_token: z.string().describe('The logout token.') }),
      },
      answers: { 200: json('The session has ended.', z.object({}), { headers: ['Cache-Control'] }) },
    },
    refusalBody,
    verification: {
      limits: { maxBodyBytes: LONGEST_FORM, deadlineMs: DEADLINE_MS, perClient },
      grants: [],
      open: async (request) => ({ principal: undefined, reply: await received(request, receive) }),
    },
    serve: () => Promise.reject(new Error('A logout was served without its verification.')),
  };
  return () => ({ name: 'logout', path: '/logout', routes: [route] });
}

const LONGEST_FORM = 16_384;
/** Longer than the time limits of a receiver together: a withdrawal waits for the lease of a lost host. */
const DEADLINE_MS = 30_000;
const NO_STORE = { 'cache-control': 'no-store' };

/** @throws {HostError} for every answer but 200, so that it is recorded as a refusal */
async function received(
  { headers, body }: UnverifiedRequest,
  receive: BackChannelLogoutOptions['receive'],
): Promise<Reply> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    const message = 'Send the logout token as a form with "Content-Type: application/x-www-form-urlencoded".';
    throw new HostError('unsupported_media_type', message, { details: undefined, headers: NO_STORE });
  }
  const answer = await receive(new TextDecoder().decode(body));
  const { error, error_description: message = 'The logout was refused.' } = ANSWER.parse(JSON.parse(answer.body));
  if (answer.status === 200) return { status: 200, headers: answer.headers, body: {} };
  if (error === FAILED) {
    throw new HostError('service_unavailable', message, { details: undefined, status: 400, headers: NO_STORE });
  }
  const fields = [{ field: 'logout_token', problem: message }];
  throw new HostError('validation_error', message, { details: { fields }, headers: NO_STORE });
}

const ANSWER = z.object({ error: z.string().optional(), error_description: z.string().optional() });
const FAILED = 'temporarily_unavailable';

/** @see OpenID Connect Back-Channel Logout 1.0, section 2.8 */
function refusalBody({ code, message }: RefusedRequest): Json {
  const isTemporary = code === 'service_unavailable' || code === 'rate_limited';
  return { error: isTemporary ? FAILED : 'invalid_request', error_description: message };
}
