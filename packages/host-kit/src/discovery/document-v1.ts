import { EVENT_LOG_SCHEMA_VERSION } from '../runs/create.ts';
import type { HostFacts } from './facts.ts';
import { ENVELOPE_KINDS, type Facets, LISTED_AS_SUPPORTED } from './families.ts';
import { DISCOVERY_V1, type DiscoveryV1 } from './schema-v1.ts';
import { servedFamilies } from './served-families.ts';
import { valid } from './valid.ts';

/**
 * The document of major 1: every family at the root, and the same records once more under `capabilities`.
 *
 * @throws {TypeError} for a capability that the interface does not know in that form
 * @see Interface: Discovery document (capabilities)
 */
export function documentV1(facts: HostFacts): DiscoveryV1 {
  const { signingKeys, extensions, featureSurfaces, fixtures, envelopeKinds = [] } = facts.capabilities;
  const own: Facets = {
    webhooks: { signed: true, signatureAlgorithms: ['v1'], durable: facts.webhooks.durable },
    restTransport: { conditionalRunGet: true },
  };
  const families = {
    auth: { supported: true, profiles: [] },
    authorization: { supported: false },
    ...Object.fromEntries(
      Object.entries({ ...own, ...servedFamilies(facts.capabilities) }).map(([name, facets]) => [
        name,
        recordOf(name, facets),
      ]),
    ),
  };
  const document = {
    protocolVersion: facts.preferred,
    protocolVersions: facts.versions,
    preferredVersion: facts.preferred,
    ...(facts.minClientVersion !== undefined && { minClientVersion: facts.minClientVersion }),
    implementation: facts.implementation,
    engineVersion: facts.engineVersion,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: ['rest'],
    supportedEnvelopes: envelopeKinds,
    schemaVersions: {
      ...Object.fromEntries(ENVELOPE_KINDS.filter((kind) => envelopeKinds.includes(kind)).map((kind) => [kind, 1])),
      runEvent: 1,
      capabilities: 1,
    },
    limits: {
      clarificationRounds: 5,
      schemaRounds: 3,
      envelopesPerTurn: 32,
      maxRequestBodyBytes: facts.maxRequestBodyBytes,
    },
    ...(signingKeys !== undefined && { signingKeys }),
    ...(fixtures !== undefined && { fixtures }),
    ...(extensions !== undefined && { extensions }),
    ...(featureSurfaces !== undefined && { hostExtensions: { featureSurfaces } }),
    ...families,
    capabilities: families,
  };
  return valid(DISCOVERY_V1, document, 'discovery document of major 1');
}

/** Where the list of what is supported is the claim itself, it stays. */
function recordOf(name: string, facets: object): object {
  return name in LISTED_AS_SUPPORTED ? facets : { supported: true, ...facets };
}
