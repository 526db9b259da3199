import { engineFamilies } from '../discovery/engine-families.ts';
import type { DiscoveryInput } from '../discovery/input.ts';
import { type Mount, mountExtensions, mountFamilies } from '../mounts/mount.ts';
import type { Services } from './services.ts';

/** Gathers the options and services that the discovery documents describe. */
export function discoveryInput(services: Services, mounts: readonly Mount[]): DiscoveryInput {
  const { served, engine, audit, capabilities, org } = services;
  const { implementation, maxRequestBodyBytes, webhooks, workspaceFiles } = services;
  const { idempotencyRetentionHours, contentEncodings, authentication } = services;
  return {
    versions: served.versions,
    preferred: served.preferred,
    minClientVersion: served.minClientVersion,
    implementation,
    engineVersion: engine.version,
    maxRequestBodyBytes,
    webhooks,
    idempotencyRetentionHours,
    contentEncodings,
    workspaceFiles,
    apiKeyIssuer: services.apiKeyIssuer ?? 'urn:svc:api-key',
    authentication,
    roles: services.roles?.catalog,
    audit: audit && {
      checkpointPublicKey: audit.signer.publicKey,
      checkpointIntervalEntries: audit.intervalEntries,
      checkpointIntervalSeconds: audit.intervalSeconds,
    },
    capabilities: {
      ...capabilities,
      families: {
        observability: { otel: { namespace: 'svc' } },
        ...engineFamilies(engine),
        ...mountFamilies(mounts),
        ...capabilities?.families,
      },
      extensions: { ...mountExtensions(org, mounts), ...capabilities?.extensions },
    },
  };
}
