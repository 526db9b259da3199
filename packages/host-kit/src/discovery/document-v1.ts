import { EVENT_LOG_SCHEMA_VERSION } from '@svc/versioning/axes';
import { STREAM_MODES } from '../streams/mode.ts';
import { authScoped } from './auth-scoped.ts';
import type { Accepted } from './authentication.ts';
import { ENVELOPE_KINDS, type Facets, LISTED_AS_SUPPORTED } from './families.ts';
import type { DiscoveryInput } from './input.ts';
import { durableDelivery, EVENT_LOG, restTransportOf } from './kit-families.ts';
import { limitsOf } from './limits.ts';
import { DISCOVERY_V1, type DiscoveryV1 } from './schema-v1.ts';
import { servedFamilies } from './served-families.ts';
import { valid } from './valid.ts';

/**
 * Builds the document of major 1: every family at the root, and the same records again under `capabilities`.
 *
 * @throws {TypeError} when the interface does not know a capability in that form
 * @see Interface: Discovery document (capabilities)
 */
export function documentV1(input: DiscoveryInput): DiscoveryV1 {
  const { signingKeys, extensions, featureSurfaces, fixtures, contractProvenance } = input.declared;
  const { envelopeKinds = [] } = input.declared;
  const own: Facets = {
    webhooks: {
      signed: true,
      signatureAlgorithms: ['v1'],
      durable: input.webhooks.durable,
      ...(input.webhooks.durable && durableDelivery(input)),
    },
    restTransport: restTransportOf(input),
    // Only major 1 serves workspace files.
    ...(input.workspaceFiles !== undefined && { workspace: { versioned: true, ...input.workspaceFiles } }),
    eventLog: EVENT_LOG,
    idempotency: { retentionHours: input.idempotencyRetentionHours },
  };
  const { known, others } = servedFamilies(input.declared);
  const families = {
    auth: authV1(input),
    authorization: authorizationOf(input) ?? { supported: false },
    ...Object.fromEntries(
      Object.entries({ ...known, ...own, ...others }).map(([name, facets]) => [name, recordOf(name, facets)]),
    ),
  };
  const document = {
    protocolVersion: input.preferred,
    protocolVersions: input.versions,
    preferredVersion: input.preferred,
    minClientVersion: input.minClientVersion,
    implementation: input.implementation,
    engineVersion: input.engineVersion,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    supportedTransports: ['rest', 'sse'],
    streamModes: STREAM_MODES,
    supportedEnvelopes: envelopeKinds,
    schemaVersions: {
      ...Object.fromEntries(ENVELOPE_KINDS.filter((kind) => envelopeKinds.includes(kind)).map((kind) => [kind, 1])),
      runEvent: 1,
      capabilities: 1,
    },
    limits: limitsOf(input),
    ...(signingKeys !== undefined && { signingKeys }),
    ...(fixtures !== undefined && { fixtures }),
    ...(input.workspacePath !== undefined && { discovery: authScoped(input.workspacePath) }),
    ...(contractProvenance !== undefined && { contractProvenance }),
    ...(extensions !== undefined && { extensions }),
    ...(featureSurfaces !== undefined && { hostExtensions: { featureSurfaces } }),
    ...families,
    capabilities: families,
  };
  return valid(DISCOVERY_V1, document, 'Discovery document of major 1');
}

/**
 * Returns the record of a family. `effectSeamsManifest` belongs to major 2. A family with a list named `supported`
 * keeps that list.
 */
function recordOf(name: string, facets: object): object {
  const { effectSeamsManifest: _, ...kept }: Record<string, unknown> = { ...facets };
  return name in LISTED_AS_SUPPORTED ? kept : { supported: true, ...kept };
}

function authorizationOf({ roles }: DiscoveryInput): object | undefined {
  return roles && { supported: true, roles, failClosed: true };
}

/** Returns the `auth` record: the supported profiles, each with the parameters that a client needs. */
function authV1({ authentication, declared, audit }: DiscoveryInput): object {
  const { tokens, workloads } = authentication;
  const [person] = tokens.user;
  const [machine] = tokens.client;
  const [workload] = workloads;
  const { mtls, rotation } = declared.authentication ?? {};
  return {
    supported: true,
    profiles: [
      ...(person === undefined ? [] : ['svc-auth-oidc-user-bearer']),
      ...(machine === undefined ? [] : ['svc-auth-oauth2-client-credentials']),
      ...(rotation === undefined ? [] : ['svc-auth-api-key-rotation']),
      ...(mtls === undefined ? [] : ['svc-auth-mtls']),
      ...(audit === undefined ? [] : ['svc-audit-log-integrity']),
    ],
    ...(person !== undefined && {
      oidc: {
        issuers: tokens.user.map(({ issuer }) => issuer),
        audience: person.audiences[0],
        ...audienceOfEach(tokens.user),
      },
    }),
    ...(machine !== undefined && {
      oauth2: {
        supported: true,
        issuer: machine.issuer,
        audience: machine.audiences[0],
        ...audienceOfEach(tokens.client),
        supportedAlgorithms: machine.algorithms,
      },
    }),
    ...(mtls !== undefined && { mtls: { supported: true, ...mtls } }),
    ...(rotation !== undefined && { rotation: { supported: true, ...rotation } }),
    ...(workload !== undefined && { workloadIdentity: workloadV1(workload) }),
    ...(audit !== undefined && {
      auditLogIntegrity: { hashChain: true, checkpointSignatureAlgorithm: 'ed25519', ...audit },
    }),
  };
}

/** Returns the audience of each issuer, when there are several. */
function audienceOfEach(tokens: readonly Accepted<'signed-token'>[]): object {
  if (tokens.length < 2) return {};
  return { issuerAudiences: tokens.map(({ issuer, audiences: [audience] }) => ({ issuer, audience })) };
}

function workloadV1({ schemes, senderConstraint, maxChainDepth, subjectMapping }: Accepted<'workload'>): object {
  return {
    supported: true,
    schemes,
    senderConstraint,
    ...(maxChainDepth !== undefined && { delegation: { maxChainDepth } }),
    subjectMapping,
  };
}
