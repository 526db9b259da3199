import { type CryptoKey, SignJWT } from 'jose';
import { clockOf } from '../clock-of.ts';
import { AuthError } from '../errors.ts';
import type { Algorithm } from '../jwt/algorithms.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { isOpaqueId } from '../opaque-id.ts';
import { requireWithin } from './delegation.ts';

/** The grant of a verified credential. It limits every token that is minted from it. */
export interface UpstreamGrant {
  /** The issuer of the credential. */
  readonly issuer: string;
  /** The subject of the credential. The new token has the same. */
  readonly subject: string;
  /** Opaque id of the tenant. The new token has the same. */
  readonly tenant: string;
  /** Reachable workspaces of the tenant. */
  readonly workspaces: 'all' | readonly string[];
  /** Audiences for which a token may be requested. */
  readonly audiences: readonly string[];
  /** Held scopes. A segment may be `*`. */
  readonly scopes: readonly string[];
  /** The data that the credential reaches. The new token has the same. */
  readonly mode: 'live' | 'test';
  /** Expiry in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A request for a token. */
export interface ExchangeRequest {
  /** Audience of the new token, one of the source's. */
  readonly audience: string;
  /** Scopes of the new token, within the source's. */
  readonly scopes: readonly string[];
  /** Workspaces of the new token, within the source's. Default: those of the source. */
  readonly workspaces?: readonly string[];
  /** Lifetime in seconds, cut to that of the source. Default 300. */
  readonly lifetimeSeconds?: number;
  /** The user of the new token. */
  readonly actor: {
    /** Its id, `client_id` and `act.sub` of the token. */
    readonly subject: string;
    /** Its issuer, `act.iss` of the token. Default: left out. */
    readonly issuer?: string;
  };
  /** Thumbprint of the key to which the token is bound. Default: a bearer token. @see RFC 9449, section 6 */
  readonly keyThumbprint?: string;
}

/** Options of `tokenExchange`. */
export interface TokenExchangeOptions {
  /** `iss` of the minted tokens. */
  readonly issuer: string;
  /** The private key that signs them. */
  readonly key: CryptoKey;
  /** `kid` of the key. */
  readonly keyId: string;
  /** `alg` of the key. */
  readonly algorithm: Algorithm;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns a fresh id (`jti`) for every token, e.g. `() => crypto.randomUUID()`. */
  readonly newId: () => string;
}

const TOKEN_EXCHANGE_OPTIONS: OptionNames<TokenExchangeOptions> = {
  issuer: true,
  key: true,
  keyId: true,
  algorithm: true,
  now: true,
  newId: true,
};

/** A minted token. */
export interface ExchangedToken {
  /** The token in compact form. */
  readonly token: string;
  /** Expiry in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The scopes of the token. */
  readonly scopes: readonly string[];
}

/**
 * Makes a function that mints access tokens for downstream services from the grant of a caller. A token has the same
 * tenant and mode, and at most the audience, scopes, workspaces and lifetime of its source. A request for more is refused; a
 * lifetime is cut.
 *
 * The function throws {AuthError} `delegation_scope_amplified`, `audience_mismatch`, `delegation_expired`, or
 * `forbidden` for a workspace, and {TypeError} when `lifetimeSeconds`, the tenant or the mode is invalid.
 *
 * @example
 * const newId = () => crypto.randomUUID();
 * const exchange = tokenExchange({ issuer, key, keyId: 'k1', algorithm: 'ES256', newId });
 * const audience = 'https://files.example.com';
 * const { token } = await exchange(upstream, { audience, scopes: ['runs:read'], actor: { subject: 'worker' } });
 * @see Interface: Workload identity, Delegation rules, item 6; RFC 8693, section 2
 */
export function tokenExchange(
  options: TokenExchangeOptions,
): (upstream: UpstreamGrant, request: ExchangeRequest) => Promise<ExchangedToken> {
  requireKnown('tokenExchange', options, TOKEN_EXCHANGE_OPTIONS);
  const { issuer, key, keyId, algorithm, newId } = options;
  const now = clockOf('tokenExchange', options.now);
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
    if (upstream.mode !== 'live' && upstream.mode !== 'test') {
      throw new TypeError('tokenExchange: upstream.mode must be "live" or "test", as tenancy.mode of the principal.');
    }
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
      svc_mode: upstream.mode,
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
