import type { AdvertisedAuthentication } from '../discovery/authentication.ts';
import type { DiscoveryOptions } from '../discovery/discovery-options.ts';
import { engineFamilies } from '../discovery/engine-families.ts';
import type { Facets, Family } from '../discovery/families.ts';
import type { DiscoveryInput } from '../discovery/input.ts';
import { FEEDBACK, triggerBridgeOf } from '../discovery/kit-families.ts';
import { type Mount, mountExtensions, mountFamilies } from '../mounts/mount.ts';
import type { Retention } from './retention.ts';
import type { Services } from './services.ts';

/** Gathers the options and services that the discovery documents describe. */
export function discoveryInput(services: Services, mounts: readonly Mount[]): DiscoveryInput {
  const { engine, audit, declared, org, debugBundles } = services;
  const signingKeys = [...(debugBundles?.signingKeys ?? []), ...(declared.signingKeys ?? [])];
  const { implementation, maxRequestBodyBytes, webhooks, workspaceFiles } = services;
  const { contentEncodings, authentication, retention } = services;
  const served: Facets = {
    observability: { otel: { namespace: 'svc' } },
    feedback: FEEDBACK,
    ...engineFamilies(engine, services.approvers, retention.runDays),
    ...mountFamilies(mounts),
    ...(services.triggers !== undefined && { triggerBridge: triggerBridgeOf(services.triggers) }),
  };
  return {
    versions: services.served.versions,
    preferred: services.served.preferred,
    minClientVersion: services.served.minClientVersion ?? NO_FLOOR,
    implementation,
    engineVersion: engine.version,
    maxRequestBodyBytes,
    webhooks,
    idempotencyRetentionHours: retention.replyHours,
    contentEncodings,
    workspaceFiles,
    authentication,
    roles: services.roles?.catalog,
    audit: audit && {
      checkpointPublicKey: audit.signer.publicKey,
      checkpointIntervalEntries: audit.intervalEntries,
      checkpointIntervalSeconds: audit.intervalSeconds,
    },
    workspacePath: services.workspaceDiscovery && `/host/${org}/discovery`,
    declared: {
      ...declared,
      ...(signingKeys.length > 0 && { signingKeys }),
      families: { ...claimable(declared, served), ...served },
      extensions: {
        ...mountExtensions(org, mounts),
        ...retentionExtension(org, retention),
        ...authenticationExtension(org, authentication, declared.authentication?.mtls),
        ...declared.extensions,
      },
    },
  };
}

/** Rejects no client. */
const NO_FLOOR = '0.0';

/**
 * Returns the families that the host declares itself.
 *
 * @throws {TypeError} when the kit, the engine or a mount already describes one, or when the kit answers its operations
 *   with an error
 */
function claimable({ families = {} }: DiscoveryOptions, served: Facets): DiscoveryOptions['families'] {
  for (const name of Object.keys(families)) {
    const claim = `discovery.families.${name}`;
    if (name in served) throw new TypeError(`${claim}: the kit describes this family itself. Remove it.`);
    const reason: unknown = Reflect.get(NOT_SERVED, name);
    if (typeof reason === 'string') throw new TypeError(`${claim}: ${reason} Remove it.`);
  }
  if (families.triggerBridge?.ingestion?.registrationEndpoint !== undefined)
    throw new TypeError(
      'discovery.families.triggerBridge.ingestion.registrationEndpoint: the kit does not serve this operation. Remove it.',
    );
  return families;
}

/** Families whose operations the kit answers with an error, so that a claim of them would be false. */
const NOT_SERVED = {
  interrupts: 'the engine names no kind of interrupt.',
  replay: 'the engine supports no fork.',
  compensation: 'the engine does not compensate.',
} satisfies { readonly [Name in Family]?: string };

/** Returns the times of retention for which the documents have no member, if runs or audit entries are removed. */
function retentionExtension(
  org: string,
  { runDays, auditDays, effectDays, deliverySeriesDays, versionUseDays }: Retention,
): DiscoveryOptions['extensions'] {
  if (runDays === undefined && auditDays === undefined) return {};
  return {
    [`${org}.retention`]: {
      ...(runDays !== undefined && { runDays }),
      ...(auditDays !== undefined && { auditDays }),
      effectDays,
      deliverySeriesDays,
      versionUseDays,
    },
  };
}

/**
 * Returns the parameters of authentication for which a lane of major 2 has no member: audiences, opaque tokens, accepted
 * proofs of possession, and the mapping of workloads to principals.
 *
 * @see Interface: Authentication, workload identity: the mapping is documented in discovery
 */
function authenticationExtension(
  org: string,
  { tokens, opaqueTokens, workloads, dpop }: AdvertisedAuthentication,
  mtls: object | undefined,
): DiscoveryOptions['extensions'] {
  const issuers = [...tokens.user, ...tokens.client].map(({ issuer, audiences: [audience] }) => ({ issuer, audience }));
  const introspection = opaqueTokens.map(({ issuer, audiences: [audience], profiles, maxAgeSeconds }) => ({
    issuer,
    audience,
    profiles,
    maxAgeSeconds,
  }));
  const workloadIdentity = workloads.map(
    ({ schemes, senderConstraint, maxChainDepth, trustRoots, subjectMapping }) => ({
      ...{ schemes, senderConstraint, issuers: trustRoots, subjectMapping },
      ...(maxChainDepth !== undefined && { delegation: { maxChainDepth } }),
    }),
  );
  const parameters = {
    ...(issuers.length > 0 && { issuers }),
    ...(introspection.length > 0 && { introspection: oneOrAll(introspection) }),
    ...(dpop !== undefined && { dpop }),
    ...(mtls !== undefined && { mtls }),
    ...(workloadIdentity.length > 0 && { workloadIdentity: oneOrAll(workloadIdentity) }),
  };
  return Object.keys(parameters).length === 0 ? {} : { [`${org}.authentication`]: parameters };
}

/** Hosts have one lane of a kind, as a rule. */
function oneOrAll(entries: readonly object[]): object {
  const [first, ...others] = entries;
  return first !== undefined && others.length === 0 ? first : entries;
}
