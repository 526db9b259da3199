import { type CryptoKey, SignJWT } from 'jose';
import { AuthError } from '../errors.ts';
import type { Algorithm } from '../jwt/algorithms.ts';
import { isOpaqueId } from '../opaque-id.ts';
import { requireWithin } from './delegation.ts';

/** What the holder of a verified credential has, which is the limit of what it can hand on. */
export interface UpstreamGrant {
  readonly issuer: string;
  readonly subject: string;
  readonly tenant: string;
  readonly workspaces: 'all' | readonly string[];
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface ExchangeRequest {
  readonly audience: string;
  readonly scopes: readonly string[];
  /** Default: those of the source. */
  readonly workspaces?: readonly string[];
  /** Default 300. */
  readonly lifetimeSeconds?: number;
  /** Who will use the new credential. */
  readonly actor: { readonly subject: string; readonly issuer?: string };
  /** The key that the new credential is to be bound to. @see RFC 9449, section 6 */
  readonly keyThumbprint?: string;
}

export interface TokenExchangeOptions {
  /** `iss` of what is minted. */
  readonly issuer: string;
  readonly key: CryptoKey;
  readonly keyId: string;
  readonly algorithm: Algorithm;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A fresh id for every token, e.g. `crypto.randomUUID`. */
  readonly newId: () => string;
}

export interface ExchangedToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly scopes: readonly string[];
}

/**
 * Mints access tokens for those behind a host, out of what a caller has. A token is for the same tenant, and its audience, scopes,
 * workspaces and lifetime are at most those of its source: what asks for more is refused, and a lifetime is cut.
 *
 * @example
 * const exchange = tokenExchange({ issuer, key, keyId: 'k1', algorithm: 'ES256', now: Date.now, newId: () => crypto.randomUUID() });
 * const { token } = await exchange(upstream, { audience: 'https://files.example.com', scopes: ['runs:read'], actor: { subject: 'worker' } });
 * @throws {AuthError} `delegation_scope_amplified`, `audience_mismatch`, `delegation_expired`, or `forbidden` for a workspace
 * @see Interface: Workload identity, Delegation rules, item 6; RFC 8693, section 2
 */
export function tokenExchange(
  options: TokenExchangeOptions,
): (upstream: UpstreamGrant, request: ExchangeRequest) => Promise<ExchangedToken> {
  const { issuer, key, keyId, algorithm, now, newId } = options;
  return async (upstream, request) => {
    const { audience, scopes, actor, keyThumbprint, lifetimeSeconds = 300 } = request;
    const issuedAt = Math.floor(now() / 1000);
    const expiresAt = Math.min(issuedAt + lifetimeSeconds, Math.floor(upstream.expiresAt / 1000));
    if (!(lifetimeSeconds > 0)) throw new TypeError('tokenExchange: lifetimeSeconds must be more than 0.');
    if (!(expiresAt > issuedAt)) {
      throw new AuthError('delegation_expired', 'The credential to exchange has expired.', undefined);
    }
    if (!upstream.audiences.includes(audience)) {
      throw new AuthError(
        'audience_mismatch',
        'The credential to exchange is not valid for the requested audience.',
        undefined,
      );
    }
    requireWithin(scopes, upstream.scopes);
    const workspaces = requireWorkspaces(request.workspaces, upstream.workspaces);
    if (!isOpaqueId(upstream.tenant)) throw new TypeError('tokenExchange: upstream.tenant must be an opaque id.');
    const claims = {
      iss: issuer,
      sub: upstream.subject,
      client_id: actor.subject,
      aud: audience,
      iat: issuedAt,
      exp: expiresAt,
      jti: newId(),
      scope: scopes.join(' '),
      svc_tenant: upstream.tenant,
      svc_workspaces: workspaces === 'all' ? ['*'] : workspaces,
      act: { sub: actor.subject, ...(actor.issuer !== undefined && { iss: actor.issuer }) },
      ...(keyThumbprint !== undefined && { cnf: { jkt: keyThumbprint } }),
    };
    const header = { alg: algorithm, typ: 'at+jwt', kid: keyId };
    const token = await new SignJWT(claims).setProtectedHeader(header).sign(key);
    return { token, expiresAt: expiresAt * 1000, scopes };
  };
}

function requireWorkspaces(
  wanted: readonly string[] | undefined,
  held: UpstreamGrant['workspaces'],
): UpstreamGrant['workspaces'] {
  if (wanted === undefined) return held;
  if (wanted.length > 0 && (held === 'all' || wanted.every((workspace) => held.includes(workspace)))) return wanted;
  throw new AuthError(
    'forbidden',
    'The credential to exchange gives no access to the requested workspaces.',
    undefined,
  );
}
