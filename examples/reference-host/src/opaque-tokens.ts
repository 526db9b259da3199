import type { Lane } from '@svc/auth';
import { hashApiKey, type KeyStore } from '@svc/auth/api-key';
import { type KeyFetch, remoteKeys, type SenderConstraints, type TokenIssuer } from '@svc/auth/bearer';
import {
  type ClientAuthentication,
  clientSecretBasic,
  type IntrospectionFetch,
  type IntrospectionLaneOptions,
  introspectionLane,
  privateKeyJwt,
} from '@svc/auth/introspection';
import { statusLists } from '@svc/auth/status-list';
import { assertionKey } from './assertion-key.ts';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';
import { keysIn } from './key-files.ts';

interface Surroundings extends SenderConstraints {
  readonly config: Config;
  readonly keys: KeyStore;
  readonly principalOf: NonNullable<TokenIssuer['principalOf']>;
  readonly fetch: IntrospectionFetch & KeyFetch;
  readonly now: () => number;
}

type Given = NonNullable<Config['introspection']>;

/** Makes the lane for opaque tokens. A key of this host is never sent to the issuer. */
export function opaqueTokensLane(given: Given, { config, keys, principalOf, ...parts }: Surroundings): Lane {
  requireApart(given, config);
  const { issuer, endpoint, audience, claims, pseudonymous, tokenPrefix, maxLifetimeSeconds } = given;
  return introspectionLane({
    ...parts,
    issuer,
    endpoint,
    audience,
    client: clientOf(given, parts.now),
    tenants: given.tenants ?? config.tenants.map(({ id }) => id),
    senderConstrained: config.dpop?.required ?? false,
    maxAgeSeconds: given.maxAgeSeconds,
    inactiveSeconds: given.inactiveSeconds,
    isToken: (token) => (tokenPrefix === undefined ? isForeign(token) : token.startsWith(tokenPrefix)),
    ...(claims !== undefined && { claims: defined(claims) }),
    ...(pseudonymous && { principalOf }),
    ...(maxLifetimeSeconds !== undefined && { maxLifetimeSeconds }),
    ...statusOptions(given, parts),
  });

  async function isForeign(token: string): Promise<boolean> {
    return (await keys.candidates({ hash: hashApiKey(token) })).length === 0;
  }
}

function statusOptions(
  { issuer, statusLists: lists, jwksUri, jwksFile }: Given,
  { fetch, now }: Pick<Surroundings, 'fetch' | 'now'>,
): Pick<IntrospectionLaneOptions, 'statusLists' | 'keys'> {
  if (lists === undefined) return {};
  const keys = jwksFile === undefined ? remoteKeys({ issuer, jwksUri, fetch, now }) : keysIn(jwksFile);
  return { statusLists: statusLists({ ...lists, fetch }), keys };
}

/** Two people with the same `sub` at two issuers of one tenant would be one principal. */
function requireApart(given: Given, { oidc, oauth2, tenants }: Config): void {
  const all = tenants.map(({ id }) => id);
  for (const other of [...(oidc?.issuers ?? []), ...(oauth2?.issuers ?? [])]) {
    if (other.issuer === given.issuer || (other.pseudonymous && given.pseudonymous)) continue;
    if (!(other.tenants ?? all).some((tenant) => (given.tenants ?? all).includes(tenant))) continue;
    const pair = `${given.issuer} and ${other.issuer}`;
    throw new TypeError(
      `introspection: ${pair} may speak for one tenant. Set disjoint tenants, or pseudonymous in both.`,
    );
  }
}

function clientOf(
  { clientId, clientSecretFile, privateKeyFile, keyId }: Given,
  now: () => number,
): ClientAuthentication {
  if (privateKeyFile === undefined) {
    const clientSecret = configuredFile('introspection.clientSecretFile', clientSecretFile ?? '').trim();
    return clientSecretBasic({ clientId, clientSecret });
  }
  const key = assertionKey(configuredFile('introspection.privateKeyFile', privateKeyFile));
  const newId = () => crypto.randomUUID();
  return privateKeyJwt({ clientId, ...key, now, newId, ...(keyId !== undefined && { keyId }) });
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
