import { EVENT_LOG_SCHEMA_VERSION } from '@svc/versioning/axes';
import { authScoped } from './auth-scoped.ts';
import type { Accepted } from './authentication.ts';
import { type Facets, LISTED_AS_SUPPORTED } from './families.ts';
import type { DiscoveryInput } from './input.ts';
import { durableDelivery, EVENT_LOG, RUN_LIST, restTransportOf } from './kit-families.ts';
import { limitsOf } from './limits.ts';
import { type Claim, DISCOVERY_V2, type DiscoveryV2, nameInMajor2 } from './schema-v2.ts';
import { servedFamilies } from './served-families.ts';
import { valid } from './valid.ts';

/**
 * Builds the document of major 2: a closed root of metadata and records. The presence of a record claims its family.
 *
 * @throws {TypeError} when the interface does not know a capability in that form, or a claim names a version that is
 *   not served
 * @see Interface: Discovery document (capabilities)
 */
export function documentV2(input: DiscoveryInput, contract: string): DiscoveryV2 {
  const { signingKeys, extensions, fixtures, envelopeKinds } = input.declared;
  const { known, others, claims } = servedFamilies(input.declared);
  const { signatureAlgorithms, secretRotation } = input.webhooks;
  const claim: Claim = { status: 'stable', since: contract, witness: 'witnessable-unaided' };
  const own: Facets = {
    webhooks: {
      signatureAlgorithms: [...signatureAlgorithms],
      ...durableDelivery(input),
      ...(signatureAlgorithms.includes('standard-webhooks-1') && { secretRotation }),
    },
    eventLog: EVENT_LOG,
    restTransport: restTransportOf(input),
    idempotency: { retentionHours: input.idempotencyRetentionHours },
    runList: RUN_LIST,
  };
  const families = Object.fromEntries(
    Object.entries({ ...known, ...own, ...others }).map(([name, facets]) => [
      nameInMajor2(name),
      { ...claim, ...claims[name], ...inMajor2(name, facets) },
    ]),
  );
  const document = {
    // Clients of major 1 read this field. It goes when major 1 is no longer served.
    ...(isOverlap(input.versions) && { protocolVersion: input.preferred }),
    protocolVersions: input.versions,
    preferredVersion: input.preferred,
    minClientVersion: input.minClientVersion,
    implementation: input.implementation,
    engineVersion: input.engineVersion,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    ...(signingKeys !== undefined && { signingKeys }),
    ...(fixtures !== undefined && { fixtures }),
    ...(input.workspacePath !== undefined && { discovery: authScoped(input.workspacePath) }),
    ...(extensions !== undefined && { extensions }),
    auth: {
      ...claim,
      lanes: lanesOf(input),
    },
    limits: { ...claim, ...limitsOf(input) },
    ...(envelopeKinds !== undefined && {
      supportedEnvelopes: { ...claim, kinds: envelopeKinds },
      schemaVersions: { ...claim, kinds: Object.fromEntries(envelopeKinds.map((kind) => [kind, 1])) },
    }),
    ...(input.roles !== undefined && { authorization: { ...claim, roles: input.roles, failClosed: true } }),
    ...(input.audit !== undefined && {
      auditLogIntegrity: { ...claim, checkpointSignatureAlgorithm: 'ed25519', ...input.audit },
    }),
    ...families,
  };
  for (const [name, { since }] of Object.entries(families)) {
    if (!input.versions.includes(since))
      throw new TypeError(
        `discovery.claims.${name}.since: this host does not serve version ${since}. ` +
          `Pass one of ${input.versions.join(', ')}.`,
      );
  }
  return valid(DISCOVERY_V2, document, 'Discovery document of major 2');
}

function isOverlap(versions: readonly string[]): boolean {
  return versions.some((version) => version.startsWith('1.'));
}

/**
 * Returns the facets of a family in major 2. Four facets of major 1 are dropped, because major 2 has no choice there:
 * deliveries are signed, subscriptions durable, replays forks, and effects suppressed. A list named `supported` gets
 * another name.
 */
function inMajor2(name: string, facets: object): object {
  const {
    signed: _1,
    durable: _2,
    fork: _3,
    sideEffectSuppression: _4,
    supported,
    ...kept
  }: Record<string, unknown> = {
    ...facets,
  };
  const listed = Reflect.get(LISTED_AS_SUPPORTED, name);
  return typeof listed === 'string' ? { ...kept, [listed]: supported } : kept;
}

/**
 * Returns the authentication lanes. The host verifies signed tokens without asking their issuer, so such a token is valid
 * until it expires. It asks about opaque tokens again and again.
 */
function lanesOf({ authentication }: DiscoveryInput): readonly object[] {
  const { apiKeys, tokens, opaqueTokens, workloads } = authentication;
  return [
    ...apiKeyLane(apiKeys),
    ...signedLane('oidc', tokens.user),
    ...signedLane('oauth2', tokens.client),
    ...opaqueTokens.flatMap(opaqueLanes),
    ...workloads.map(workloadLane),
  ];
}

function apiKeyLane(keys: readonly Accepted<'api-key'>[]): readonly object[] {
  if (keys.length === 0) return [];
  const issuers = keys.map(({ issuer }) => issuer);
  return [{ lane: 'api-key', issuers, revocation: 'next-request', minimumAssurance: 'bearer' }];
}

function signedLane(lane: 'oidc' | 'oauth2', tokens: readonly Accepted<'signed-token'>[]): readonly object[] {
  if (tokens.length === 0) return [];
  const lifetime = Math.max(...tokens.map(({ maxLifetimeSeconds }) => maxLifetimeSeconds));
  return [
    {
      lane,
      issuers: tokens.map(({ issuer }) => issuer),
      revocation: 'exp-only',
      ...(Number.isFinite(lifetime) && { revocationWindowSeconds: wholeSeconds(lifetime) }),
      minimumAssurance: assuranceOf(tokens),
    },
  ];
}

/** The lanes of opaque tokens: those of their callers, beside the lanes of signed tokens. */
function opaqueLanes(tokens: Accepted<'opaque-token'>): readonly object[] {
  return tokens.profiles.map((profile) => ({
    lane: profile === 'user' ? 'oidc' : 'oauth2',
    issuers: [tokens.issuer],
    revocation: 'exp-and-recheck',
    revocationWindowSeconds: wholeSeconds(tokens.maxAgeSeconds),
    minimumAssurance: assuranceOf([tokens]),
  }));
}

/** At least one. */
function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

function assuranceOf(tokens: readonly { readonly senderConstrained: boolean }[]): string {
  return tokens.every(({ senderConstrained }) => senderConstrained) ? 'sender-constrained' : 'bearer';
}

function workloadLane({ trustRoots, senderConstraint, maxChainDepth }: Accepted<'workload'>): object {
  const proofs = [
    ...senderConstraint.map((method) => (method === 'mtls' ? 'mtls-key-binding' : method)),
    ...(maxChainDepth === undefined ? [] : ['svid-chain']),
  ];
  return {
    lane: 'workload',
    issuers: trustRoots,
    revocation: 'delegation-expiry',
    minimumAssurance: senderConstraint.length > 0 ? 'key-bound' : 'bearer',
    ...(proofs.length > 0 && { delegationProofs: proofs }),
  };
}
