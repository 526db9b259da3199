import { EVENT_LOG_SCHEMA_VERSION } from '../runs/create.ts';
import { type Facets, LISTED_AS_SUPPORTED } from './families.ts';
import type { DiscoveryInput } from './input.ts';
import { durableDelivery, EVENT_LOG, RUN_LIST, restTransportOf } from './kit-families.ts';
import { limitsOf } from './limits.ts';
import { type Claim, DISCOVERY_V2, type DiscoveryV2, nameInMajor2 } from './schema-v2.ts';
import { servedFamilies } from './served-families.ts';
import { valid } from './valid.ts';

/**
 * The document of major 2: a closed root of metadata and records, each of which claims by its presence.
 *
 * @throws {TypeError} for a capability that the interface does not know in that form, or a claim of a version that is not served
 * @see Interface: Discovery document (capabilities)
 */
export function documentV2(facts: DiscoveryInput, contract: string): DiscoveryV2 {
  const { signingKeys, extensions, fixtures, envelopeKinds, claims = {} } = facts.capabilities;
  const { signatureAlgorithms, secretRotation } = facts.webhooks;
  const claim: Claim = { status: 'stable', since: contract, witness: 'witnessable-unaided' };
  const own: Facets = {
    webhooks: {
      signatureAlgorithms: [...signatureAlgorithms],
      ...durableDelivery(facts),
      ...(signatureAlgorithms.includes('standard-webhooks-1') && { secretRotation }),
    },
    eventLog: EVENT_LOG,
    restTransport: restTransportOf(facts),
    idempotency: { retentionHours: facts.idempotencyRetentionHours },
    runList: RUN_LIST,
  };
  const families = Object.fromEntries(
    Object.entries({ ...own, ...servedFamilies(facts.capabilities) }).map(([name, facets]) => [
      nameInMajor2(name),
      { ...claim, ...Reflect.get(claims, name), ...inMajor2(name, facets) },
    ]),
  );
  const document = {
    // The twin that readers of major 1 look for, as long as there are any.
    ...(isOverlap(facts.versions) && { protocolVersion: facts.preferred }),
    protocolVersions: facts.versions,
    preferredVersion: facts.preferred,
    ...(facts.minClientVersion !== undefined && { minClientVersion: facts.minClientVersion }),
    implementation: facts.implementation,
    engineVersion: facts.engineVersion,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    ...(signingKeys !== undefined && { signingKeys }),
    ...(fixtures !== undefined && { fixtures }),
    ...(extensions !== undefined && { extensions }),
    auth: {
      ...claim,
      lanes: lanesOf(facts),
    },
    limits: { ...claim, ...limitsOf(facts) },
    ...(envelopeKinds !== undefined && {
      supportedEnvelopes: { ...claim, kinds: envelopeKinds },
      schemaVersions: { ...claim, kinds: Object.fromEntries(envelopeKinds.map((kind) => [kind, 1])) },
    }),
    ...(facts.roles !== undefined && { authorization: { ...claim, roles: facts.roles, failClosed: true } }),
    ...(facts.audit !== undefined && {
      auditLogIntegrity: { ...claim, checkpointSignatureAlgorithm: 'ed25519', ...facts.audit },
    }),
    ...families,
  };
  for (const [name, { since }] of Object.entries(families)) {
    if (!facts.versions.includes(since))
      throw new TypeError(`${name} is claimed since ${since}, which this host does not serve.`);
  }
  return valid(DISCOVERY_V2, document, 'discovery document of major 2');
}

function isOverlap(versions: readonly string[]): boolean {
  return versions.some((version) => version.startsWith('1.'));
}

/**
 * In major 2 every delivery is signed and every subscription durable, a replay is a fork and never has an effect, so none of that is a
 * facet; and no facet is named `supported`.
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

/** Major 2 tells authentication as lanes. A token is verified here and not asked about, so it is good until it expires. */
function lanesOf({ apiKeyIssuer, authentication }: DiscoveryInput): readonly object[] {
  const { oidc, oauth2, workloadIdentity, dpop } = authentication;
  const minimumAssurance = dpop?.required === true ? 'sender-constrained' : 'bearer';
  const ofTokens = (lane: string, { issuers, lifetime }: { issuers: readonly string[]; lifetime: number }) => ({
    lane,
    issuers,
    revocation: 'exp-only',
    revocationWindowSeconds: lifetime,
    minimumAssurance,
  });
  return [
    { lane: 'api-key', issuers: [apiKeyIssuer], revocation: 'next-request', minimumAssurance: 'bearer' },
    ...(oidc === undefined ? [] : [ofTokens('oidc', oidc)]),
    ...(oauth2 === undefined ? [] : [ofTokens('oauth2', oauth2)]),
    ...(workloadIdentity === undefined ? [] : [workloadLane(workloadIdentity)]),
  ];
}

function workloadLane(facts: NonNullable<DiscoveryInput['authentication']['workloadIdentity']>): object {
  const { issuers, senderConstraint, delegation } = facts;
  return {
    lane: 'workload',
    issuers,
    revocation: 'delegation-expiry',
    minimumAssurance: senderConstraint.length > 0 ? 'key-bound' : 'bearer',
    ...(delegation !== undefined && { delegationProofs: ['svid-chain'] }),
  };
}
