import { engineFamilies } from '../discovery/engine-families.ts';
import type { HostFacts } from '../discovery/facts.ts';
import { type Mount, mountExtensions, mountFamilies } from '../mounts/mount.ts';
import type { Ground } from './ground.ts';

/** What discovery tells of the host. */
export function hostFacts(ground: Ground, mounts: readonly Mount[]): HostFacts {
  const { served, engine, audit, capabilities, org } = ground;
  const { implementation, maxRequestBodyBytes, webhooks, workspaceFiles } = ground;
  const { idempotencyRetentionHours, contentEncodings, authentication } = ground;
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
    apiKeyIssuer: ground.apiKeyIssuer ?? 'urn:svc:api-key',
    authentication,
    roles: ground.roles?.catalog,
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
