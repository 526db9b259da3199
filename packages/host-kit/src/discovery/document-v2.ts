import type { JsonObject } from '../json.ts';
import { EVENT_LOG_SCHEMA_VERSION } from '../runs/create.ts';
import type { HostFacts } from './facts.ts';

/**
 * The document of major 2: a closed root of metadata and records, each of which claims by its presence.
 *
 * @see Interface: Discovery document (capabilities)
 */
export function documentV2(facts: HostFacts, contract: string): JsonObject {
  const { maxAttempts, backoff } = facts.webhooks.retryPolicy;
  const record = { status: 'stable', since: contract, witness: 'witnessable-unaided' };
  return {
    protocolVersion: facts.preferred,
    protocolVersions: facts.versions,
    preferredVersion: facts.preferred,
    ...(facts.minClientVersion !== undefined && { minClientVersion: facts.minClientVersion }),
    implementation: facts.implementation,
    engineVersion: facts.engineVersion,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    auth: {
      ...record,
      lanes: [
        { lane: 'api-key', issuers: [facts.apiKeyIssuer], revocation: 'next-request', minimumAssurance: 'bearer' },
      ],
    },
    limits: {
      ...record,
      clarificationRounds: 5,
      schemaRounds: 3,
      envelopesPerTurn: 32,
      maxRequestBodyBytes: facts.maxRequestBodyBytes,
    },
    webhooks: { ...record, signatureAlgorithms: ['v1'], retryPolicy: { maxAttempts, backoff } },
  };
}
