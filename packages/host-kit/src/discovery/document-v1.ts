import type { JsonObject } from '../json.ts';
import { EVENT_LOG_SCHEMA_VERSION } from '../runs/create.ts';
import type { HostFacts } from './facts.ts';

/**
 * The document of major 1: every family at the root, and the same records once more under `capabilities`.
 *
 * @see Interface: Discovery document (capabilities)
 */
export function documentV1(facts: HostFacts): JsonObject {
  const { durable } = facts.webhooks;
  const families: JsonObject = {
    auth: { supported: true, profiles: [] },
    authorization: { supported: false },
    webhooks: { supported: true, signed: true, signatureAlgorithms: ['v1'], durable },
    restTransport: { supported: true, conditionalRunGet: true },
  };
  return {
    protocolVersion: facts.preferred,
    protocolVersions: facts.versions,
    preferredVersion: facts.preferred,
    ...(facts.minClientVersion !== undefined && { minClientVersion: facts.minClientVersion }),
    implementation: facts.implementation,
    engineVersion: facts.engineVersion,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: ['rest'],
    supportedEnvelopes: [],
    schemaVersions: { runEvent: 1, capabilities: 1 },
    limits: {
      clarificationRounds: 5,
      schemaRounds: 3,
      envelopesPerTurn: 32,
      maxRequestBodyBytes: facts.maxRequestBodyBytes,
    },
    ...families,
    capabilities: families,
  };
}
