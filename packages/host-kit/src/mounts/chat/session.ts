import { AuthError, anonymousActor, type Principal, type Tenancy } from '@svc/auth';
import type { MountServices } from '../mount.ts';

/** The place of a public surface, and the life of its sessions. */
export interface PublicSurface {
  /** The name that its sessions are bound to. A session of one surface opens no other. */
  readonly path: string;
  readonly tenancy: Tenancy;
  /** The host, as the issuer of its anonymous actors. */
  readonly issuer: string;
  readonly sessionMs: number;
}

/** A session of an anonymous caller. */
export interface Session {
  readonly principal: Principal;
  /** The text with which the caller continues the session. It holds no part that the caller chose or can read. */
  readonly token: string;
  readonly expiresAt: number;
}

type SessionServices = Pick<MountServices, 'clock' | 'random' | 'secrets'>;

/**
 * Begins a session: mints its actor, and seals the random bytes of its id into the token. The host stores nothing of it.
 *
 * @see Interface: Run owner (identity triple), Anonymous actor rules
 */
export function beginSession({ clock, random, secrets }: SessionServices, surface: PublicSurface): Session {
  const seed = random(SEED_BYTES);
  const expiresAt = clock.now() + surface.sessionMs;
  const sealed = secrets.seal(JSON.stringify({ seed: [...seed], expiresAt }), boundTo(surface));
  return { principal: actorOf(surface, seed, expiresAt), token: PREFIX + sealed, expiresAt };
}

/**
 * Returns the actor of the session whose token a request carries as `Authorization: Bearer <token>`.
 *
 * @throws {AuthError} `unauthenticated` for no token, a foreign one and an expired one
 */
export function sessionIn({ clock, secrets }: SessionServices, surface: PublicSurface, headers: Headers): Principal {
  const [, token] = TOKEN.exec(headers.get('authorization') ?? '') ?? [];
  if (token === undefined) throw refused();
  const { seed, expiresAt } = opened(secrets, token, surface);
  if (clock.now() >= expiresAt) throw refused();
  return actorOf(surface, seed, expiresAt);
}

const SEED_BYTES = 16;
const PREFIX = 'svcs_';
const TOKEN = /^Bearer svcs_([A-Za-z0-9_-]{1,512})$/i;

function boundTo({ path, tenancy }: PublicSurface): string {
  return JSON.stringify(['session', path, tenancy.tenant, tenancy.workspaces, tenancy.mode]);
}

function actorOf({ tenancy, issuer }: PublicSurface, seed: Uint8Array, expiresAt: number): Principal {
  return { ...anonymousActor({ tenancy, issuer, randomBytes: () => seed }), expiresAt };
}

function opened(
  secrets: MountServices['secrets'],
  token: string,
  surface: PublicSurface,
): { readonly seed: Uint8Array; readonly expiresAt: number } {
  try {
    const { seed, expiresAt } = JSON.parse(secrets.open(token, boundTo(surface)));
    return { seed: Uint8Array.from(seed), expiresAt };
  } catch {
    throw refused();
  }
}

/** One message for all: the reason would tell a stranger whether a guess was near. */
function refused(): AuthError {
  const message = 'This needs a session. Begin one, and send its token as "Authorization: Bearer <token>".';
  return new AuthError('unauthenticated', message, undefined);
}
