import { hkdfSync } from 'node:crypto';
import {
  type Lane,
  memoryRoleDirectory,
  type RefusalLimit,
  type RoleAssignment,
  type RoleAuthorizer,
  roleAuthorizer,
} from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys, pseudonyms, type TokenIssuer } from '@svc/auth/bearer';
import { type DpopVerifier, dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { type CertificateOf, clientCertificates } from '@svc/auth/mtls';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import {
  cloudSubject,
  jwtSvid,
  oauthClient,
  type PresentedIdentity,
  type WorkloadBinding,
  type WorkloadScheme,
  workloadLane,
} from '@svc/auth/workload';
import { mtlsSan, x509Svid } from '@svc/auth/workload/x509';
import { egressPolicy, inCidr, parseAddress, parseCidr } from '@svc/egress-guard';
import { type GuardedFetch, guardedFetch } from '@svc/egress-guard/fetch';
import type { AdvertisedAuthentication } from '@svc/host-kit';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';

export interface Authentication {
  readonly lanes: readonly Lane[];
  readonly facts: AdvertisedAuthentication;
  readonly refusals: RefusalLimit;
  readonly roles: RoleAuthorizer | undefined;
}

/**
 * Assembles the authentication that a configuration describes. The lanes for tokens stand before the lane for API keys,
 * because each of them skips credentials that are not of its issuers.
 *
 * @param baseUrl the origin at which clients reach the host. DPoP proofs name it.
 */
export function authentication(config: Config, baseUrl: string, secret: Uint8Array): Authentication {
  const constraints = { dpop: dpop(config, baseUrl, secret), certificateOf: certificates(config) };
  const fetch = identityFetch(config);
  const issuers = tokenIssuers(config, secret);
  const workloads = workloadIdentity(config, { fetch, ...constraints });
  return {
    lanes: [
      ...(workloads === undefined ? [] : [workloads.lane]),
      ...(issuers.length === 0 ? [] : [bearerLane({ issuers, fetch, now: Date.now, ...constraints })]),
      apiKeyLane({
        keys: memoryKeyStore(config.apiKeys.map(keyRecord)),
        now: Date.now,
        issuer: apiKeyIssuer(config),
      }),
    ],
    facts: {
      ...factsOf(config, issuers),
      ...(workloads !== undefined && { workloadIdentity: workloads.facts }),
      ...(config.dpop !== undefined && {
        dpop: { algorithms: constraints.dpop.algorithms, required: config.dpop.required },
      }),
    },
    refusals: {
      limiter: memoryRateLimiter(refusalLimit(config)),
      clientOf: clientAddress({ isTrustedPeer: isTrustedPeer(config) }),
    },
    roles: roles(config),
  };
}

/** Returns the issuer in the Subjects of API keys, which tells the keys of two hosts apart. */
export function apiKeyIssuer({ apiKeyIssuer, org }: Config): string {
  return apiKeyIssuer ?? `urn:svc:api-key:${org}`;
}

function refusalLimit({ rateLimit }: Config) {
  const { limit, windowSeconds } = rateLimit?.refusals ?? rateLimit ?? REFUSALS;
  return { limit, windowSeconds };
}

/** A hundred refused requests a second: enough for the mistakes of a client, too few to guess a key. */
const REFUSALS = { limit: 6000, windowSeconds: 60 };

/** Hashes the key, so that the key itself is stored nowhere. */
function keyRecord({
  key,
  hash,
  workspaces,
  principalKind,
  expiresAt,
  revokedAt,
  ...record
}: Config['apiKeys'][number]) {
  return {
    ...record,
    hash: hash ?? hashApiKey(key ?? ''),
    workspaces: workspaces.includes('*') ? ('all' as const) : workspaces,
    ...(principalKind !== undefined && { principalKind }),
    ...(expiresAt != null && { expiresAt: Date.parse(expiresAt) }),
    ...(revokedAt != null && { revokedAt: Date.parse(revokedAt) }),
  };
}

function tokenIssuers(config: Config, secret: Uint8Array): readonly TokenIssuer[] {
  // Pseudonyms depend on this key. It has to stay when secretKey is replaced, or every user gets a new pseudonym.
  const pseudonymKey = config.pseudonymKey === undefined ? secret : Buffer.from(config.pseudonymKey, 'base64');
  const entry = (profile: 'user' | 'client', given: Issuer): TokenIssuer => {
    const { issuer, audience, algorithms, jwksUri, jwksFile, claims, pseudonymous, ...limits } = given;
    return {
      issuer,
      audience,
      profile,
      tenants: given.tenants ?? config.tenants.map(({ id }) => id),
      senderConstrained: config.dpop?.required ?? false,
      ...(algorithms !== undefined && { algorithms }),
      ...(jwksUri !== undefined && { jwksUri }),
      ...(jwksFile !== undefined && { keys: keysIn(jwksFile) }),
      ...(claims !== undefined && { claims: defined(claims) }),
      ...(pseudonymous && { principalOf: pseudonyms(derived(pseudonymKey, 'principals')) }),
      ...defined({ maxLifetimeSeconds: limits.maxLifetimeSeconds, plainJwt: limits.plainJwt }),
    };
  };
  return [
    ...(config.oauth2?.issuers ?? []).map((given) => entry('client', given)),
    ...(config.oidc?.issuers ?? []).map((given) => entry('user', given)),
  ];
}

type Issuer = NonNullable<Config['oidc']>['issuers'][number];

function factsOf(config: Config, issuers: readonly TokenIssuer[]): AdvertisedAuthentication {
  const of = (profile: TokenIssuer['profile'], given: Config['oidc']) => {
    const entries = issuers.filter((entry) => entry.profile === profile);
    const lifetime = Math.max(0, ...entries.map(({ maxLifetimeSeconds = 86_400 }) => maxLifetimeSeconds));
    const audiences = Object.fromEntries((given?.issuers ?? []).map(({ issuer, audience }) => [issuer, audience]));
    const [audience = ''] = Object.values(audiences);
    return { issuers: entries.map(({ issuer }) => issuer), audience, audiences, lifetime };
  };
  const { oidc, oauth2 } = config;
  return {
    ...(oidc !== undefined && { oidc: of('user', oidc) }),
    ...(oauth2 !== undefined && {
      oauth2: {
        ...of('client', oauth2),
        algorithms: oauth2.issuers[0]?.algorithms ?? ['RS256', 'PS256', 'ES256', 'EdDSA'],
      },
    }),
  };
}

function dpop(config: Config, baseUrl: string, secret: Uint8Array): DpopVerifier {
  const now = Date.now;
  const nonces =
    config.dpop?.nonce === true ? statelessNonces({ secret: derived(secret, 'dpop nonces'), now }) : undefined;
  return dpopVerifier({ origin: baseUrl, replays: memoryReplayStore({ now }), now, nonces });
}

function certificates({ mtls }: Config): CertificateOf {
  if (mtls === undefined) return clientCertificates();
  return clientCertificates({ terminator: { isTrustedPeer: within(mtls.trustedTerminator), header: mtls.header } });
}

/** Trusts the client addresses that the proxies of `mtls.trustedTerminator` report, as it trusts their certificates. */
function isTrustedPeer({ mtls }: Config): (address: string) => boolean {
  return within(mtls?.trustedTerminator ?? []);
}

function within(blocks: readonly string[]): (address: string) => boolean {
  const cidrs = blocks.map(parseCidr).filter((cidr) => cidr !== undefined);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => inCidr(address, cidr));
  };
}

function workloadIdentity(
  config: Config,
  context: { readonly fetch: GuardedFetch; readonly dpop: DpopVerifier; readonly certificateOf: CertificateOf },
): { readonly lane: Lane; readonly facts: NonNullable<AdvertisedAuthentication['workloadIdentity']> } | undefined {
  const { workloadIdentity: workloads } = config;
  if (workloads === undefined) return undefined;
  const { audience, senderConstraint, delegation } = workloads;
  const schemes = schemesOf(workloads, context);
  const bindings = workloads.bindings.map(({ workspaces, ...binding }) => ({
    ...binding,
    workspaces: workspaces.includes('*') ? ('all' as const) : workspaces,
  }));
  const resolve = ({ scheme, issuer, subject }: PresentedIdentity): WorkloadBinding | undefined =>
    bindings.find(
      (binding) =>
        binding.subject === subject &&
        (binding.issuer === undefined || binding.issuer === issuer) &&
        (binding.scheme === undefined || binding.scheme === scheme),
    );
  const rules = delegation && {
    maxChainDepth: delegation.maxChainDepth,
    issuers: delegation.issuers.map(({ issuer, jwksFile }) => ({ issuer, keys: keysIn(jwksFile) })),
    audience,
  };
  return {
    lane: workloadLane({
      schemes,
      audience,
      resolve,
      senderConstraint,
      ...(rules !== undefined && { delegation: rules }),
      dpop: context.dpop,
      certificateOf: context.certificateOf,
      now: Date.now,
    }),
    facts: {
      schemes: [...new Set(schemes.map(({ scheme }) => scheme))],
      senderConstraint,
      ...(delegation !== undefined && { delegation: { maxChainDepth: delegation.maxChainDepth } }),
      issuers: [
        ...workloads.trustDomains.map(({ name }) => `spiffe://${name}`),
        ...workloads.issuers.map(({ issuer }) => issuer),
        ...(workloads.mtlsSan === undefined ? [] : [workloads.mtlsSan.issuer]),
      ],
      subjectMapping: 'The operator binds each subject, by its exact text and its issuer, to a principal.',
    },
  };
}

type Workloads = NonNullable<Config['workloadIdentity']>;

function schemesOf(
  { schemes, trustDomains, issuers, mtlsSan: san }: Workloads,
  { fetch, certificateOf }: { readonly fetch: GuardedFetch; readonly certificateOf: CertificateOf },
): readonly WorkloadScheme[] {
  const byToken = trustDomains.flatMap(({ name, jwksFile }) =>
    jwksFile === undefined ? [] : [{ name, keys: keysIn(jwksFile) }],
  );
  const byCertificate = trustDomains.flatMap(({ name, authoritiesFile }) =>
    authoritiesFile === undefined ? [] : [{ name, authorities: certificatesIn(authoritiesFile) }],
  );
  const issuersOf = (scheme: string) =>
    issuers
      .filter((entry) => entry.scheme === scheme)
      .map(({ issuer, jwksUri, jwksFile }) => ({
        issuer,
        ...(jwksUri !== undefined && { jwksUri }),
        ...(jwksFile !== undefined && { keys: keysIn(jwksFile) }),
      }));
  const made: Readonly<Record<Workloads['schemes'][number], () => readonly WorkloadScheme[]>> = {
    spiffe: () => [
      ...(byToken.length === 0 ? [] : [jwtSvid({ trustDomains: byToken })]),
      ...(byCertificate.length === 0 ? [] : [x509Svid({ certificateOf, trustDomains: byCertificate })]),
    ],
    'mtls-san': () =>
      san === undefined
        ? []
        : [mtlsSan({ certificateOf, authorities: certificatesIn(san.authoritiesFile), issuer: san.issuer })],
    'cloud-subject': () => [cloudSubject({ issuers: issuersOf('cloud-subject'), fetch, now: Date.now })],
    'oauth-client': () => [oauthClient({ issuers: issuersOf('oauth-client'), fetch, now: Date.now })],
  };
  return schemes.flatMap((scheme) => made[scheme]());
}

function roles({ authorization, tenants }: Config): RoleAuthorizer | undefined {
  if (authorization === undefined) return undefined;
  const assignments = authorization.assignments.flatMap(({ principal, workspace, role, tenant }) =>
    tenants
      .filter(({ id, workspaces }) => (tenant === undefined || tenant === id) && workspaces.includes(workspace))
      .map(({ id }): RoleAssignment & { principal: string; tenant: string } => ({
        principal,
        tenant: id,
        workspace,
        role,
      })),
  );
  return roleAuthorizer({ catalog: authorization.roles, directory: memoryRoleDirectory(assignments) });
}

/**
 * Makes the fetch for metadata and keys of issuers. The operator chose the issuers, so one on this machine may be
 * called. URLs in their metadata are still guarded.
 */
function identityFetch(config: Config): GuardedFetch {
  const { denyCidrs, allowCidrs, caFile } = config.egress;
  const { oidc, oauth2, workloadIdentity: workloads } = config;
  const entries = [...(oidc?.issuers ?? []), ...(oauth2?.issuers ?? []), ...(workloads?.issuers ?? [])];
  const allowLoopback = entries.some(({ issuer }) => issuer.startsWith('http://'));
  const policy = egressPolicy({ allowLoopback, denyCidrs, allowCidrs });
  return guardedFetch({ policy, ...(caFile !== null && { ca: [configuredFile('egress.caFile', caFile)] }) });
}

function keysIn(file: string) {
  const text = configuredFile('jwksFile', file);
  try {
    return localKeys(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new Error(`jwksFile: ${file} is not JSON. Give the path of a JSON Web Key Set.`, { cause });
  }
}

function certificatesIn(file: string): readonly string[] {
  const text = configuredFile('authoritiesFile', file);
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
}

/** Derives a separate key for each use, so that no use weakens another. */
function derived(secret: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `svc ${use}`, 32));
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
