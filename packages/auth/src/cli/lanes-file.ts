import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { sha256 } from '#sha256';
import { apiKeyLane } from '../api-key/lane.ts';
import { memoryKeyStore } from '../api-key/memory.ts';
import { bearerLane } from '../bearer/lane.ts';
import { memoryReplayStore } from '../dpop/memory.ts';
import { type DpopVerifier, dpopVerifier } from '../dpop/proof.ts';
import { ExplainUsageError } from '../explain/terminal.ts';
import { clientSecretBasic } from '../introspection/client-authentication.ts';
import { introspectionLane } from '../introspection/lane.ts';
import { ALGORITHMS } from '../jwt/algorithms.ts';
import { type JsonWebKeySet, type KeySource, localKeys } from '../jwt/key-set.ts';
import type { Lane } from '../lane.ts';
import { clientCertificates } from '../mtls/client-certificate.ts';
import { statusLists } from '../status-list/status-lists.ts';
import { type PresentedIdentity, workloadLane } from '../workload/lane.ts';
import type { WorkloadScheme } from '../workload/scheme.ts';
import { jwtSvid, trustDomainKeys } from '../workload/spiffe.ts';
import { cloudSubject, oauthClient } from '../workload/token-scheme.ts';

/**
 * Makes the lanes that a file describes. Paths in it are relative to the file.
 *
 * @throws {ExplainUsageError} that names the field, never its value
 */
export async function lanesOf(file: string, now: () => number): Promise<readonly Lane[]> {
  const parsed = LANES_FILE.safeParse(jsonIn(file, '--config'));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.join('.') || 'the file';
    throw new ExplainUsageError(`--config: ${path}: ${issue?.message}. Compare it with the README of @svc/auth.`);
  }
  const { origin, apiKeys, issuers, introspection, mtls, workloads } = parsed.data;
  const dpop = origin === undefined ? undefined : dpopVerifier({ origin, replays: memoryReplayStore({ now }), now });
  const certificateOf = clientCertificates(
    mtls === undefined ? {} : { terminator: { isTrustedPeer: () => true, header: mtls.header } },
  );
  const context: Context = { folder: dirname(resolve(file)), now, dpop, certificateOf };
  const keys = memoryKeyStore(
    apiKeys.map(({ workspaces, expiresAt, revokedAt, ...record }) => ({
      ...record,
      workspaces: reachOf(workspaces),
      ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
      ...(revokedAt !== undefined && { revokedAt: Date.parse(revokedAt) }),
    })),
  );
  return [
    ...(workloads === undefined ? [] : [workloadsLane(workloads, context)]),
    ...(issuers.length === 0 ? [] : [tokensLane(issuers, context)]),
    ...(introspection === undefined ? [] : [opaqueTokensLane(introspection, apiKeys, context)]),
    apiKeyLane({ keys, now }),
  ];
}

interface Context {
  readonly folder: string;
  readonly now: () => number;
  readonly dpop: DpopVerifier | undefined;
  readonly certificateOf: ReturnType<typeof clientCertificates>;
}

function tokensLane(issuers: LanesFile['issuers'], { folder, ...context }: Context): Lane {
  const entries = issuers.map(({ jwksFile, statusLists: lists, ...entry }) => ({
    ...defined(entry),
    ...(lists !== undefined && { statusLists: statusLists({ ...lists, fetch }) }),
    ...(jwksFile !== undefined && { keys: keysIn(folder, jwksFile) }),
  }));
  return bearerLane({ issuers: entries, fetch, ...context });
}

/** An answer in a file tells what the issuer said, and the issuer is not asked. */
function opaqueTokensLane(
  {
    clientId,
    clientSecretFile,
    answerFile,
    jwksFile,
    statusLists: lists,
    ...given
  }: NonNullable<LanesFile['introspection']>,
  apiKeys: LanesFile['apiKeys'],
  { folder, ...context }: Context,
): Lane {
  const known = new Set(apiKeys.map(({ hash }) => hash));
  const answer =
    answerFile === undefined ? undefined : JSON.stringify(jsonIn(resolve(folder, answerFile), 'answerFile'));
  if (answer === undefined && clientSecretFile === undefined)
    throw new ExplainUsageError('introspection: has neither answerFile nor clientSecretFile. Give one of them.');
  const clientSecret = clientSecretFile === undefined ? 'not sent' : secretIn(resolve(folder, clientSecretFile));
  return introspectionLane({
    ...defined(given),
    ...context,
    ...(lists !== undefined && { statusLists: statusLists({ ...lists, fetch }) }),
    ...(jwksFile !== undefined && { keys: keysIn(folder, jwksFile) }),
    client: clientSecretBasic({ clientId, clientSecret }),
    isToken: (token) => !known.has(sha256(token)),
    fetch: answer === undefined ? fetch : async () => new Response(answer),
  });
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new ExplainUsageError(`clientSecretFile: ${file} cannot be read. Check the path and its permissions.`);
  }
}

function workloadsLane(workloads: NonNullable<LanesFile['workloads']>, { folder, ...context }: Context): Lane {
  const { audience, trustDomains, issuers, bindings, senderConstraint, delegation } = workloads;
  const issuersOf = (scheme: 'cloud-subject' | 'oauth-client') =>
    issuers
      .filter((entry) => entry.scheme === scheme)
      .map(({ scheme: _, jwksFile, statusLists: lists, ...entry }) => ({
        ...defined(entry),
        ...(jwksFile !== undefined && { keys: keysIn(folder, jwksFile) }),
        ...(lists !== undefined && { statusLists: statusLists({ ...lists, fetch }) }),
      }));
  const [clouds, clients] = [issuersOf('cloud-subject'), issuersOf('oauth-client')];
  const domains = trustDomains.map(({ name, jwksFile, statusLists: lists }) => ({
    name,
    keys: keysIn(folder, jwksFile, trustDomainKeys),
    ...(lists !== undefined && { statusLists: statusLists({ ...lists, fetch }) }),
  }));
  const schemes: readonly WorkloadScheme[] = [
    ...(domains.length === 0 ? [] : [jwtSvid({ trustDomains: domains, now: context.now })]),
    ...(clouds.length === 0 ? [] : [cloudSubject({ issuers: clouds, fetch, now: context.now })]),
    ...(clients.length === 0 ? [] : [oauthClient({ issuers: clients, fetch, now: context.now })]),
  ];
  const find = ({ issuer, subject }: PresentedIdentity) => {
    const found = bindings.find((binding) => binding.issuer === issuer && binding.subject === subject);
    return found && { ...found, workspaces: reachOf(found.workspaces) };
  };
  const rules = delegation && {
    maxChainDepth: delegation.maxChainDepth,
    issuers: delegation.issuers.map(({ issuer, jwksFile }) => ({ issuer, keys: keysIn(folder, jwksFile) })),
    audience,
  };
  const options = { schemes, audience, resolve: find, senderConstraint, ...context };
  return workloadLane(rules === undefined ? options : { ...options, delegation: rules });
}

function reachOf(workspaces: readonly string[]): 'all' | readonly string[] {
  return workspaces.includes('*') ? 'all' : workspaces;
}

function keysIn(folder: string, file: string, read: (keySet: JsonWebKeySet) => KeySource = localKeys): KeySource {
  const parsed = z
    .looseObject({ keys: z.array(z.looseObject({})) })
    .safeParse(jsonIn(resolve(folder, file), 'jwksFile'));
  if (!parsed.success) throw new ExplainUsageError('jwksFile: is not a key set. Give a JSON Web Key Set.');
  return read(parsed.data);
}

function jsonIn(file: string, option: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new ExplainUsageError(`${option}: ${file} cannot be read. Check the path and its permissions.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ExplainUsageError(`${option}: ${file} is not JSON. Correct its syntax.`);
  }
}

type Defined<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

/** Removes the fields that are undefined: the lanes tell them from absent ones. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

const id = z.string().min(1);
const date = z.iso.datetime({ offset: true, error: 'must be a date such as 2026-06-01T08:00:00Z' });
const grants = { principal: id, tenant: id, workspaces: z.array(id).min(1), scopes: z.array(id) };
const mode = z.enum(['live', 'test']).default('live');
const keySet = { jwksFile: id.optional(), jwksUri: id.optional() };

const claim = z.union([id, z.array(id).min(1), z.strictObject({ value: z.union([z.string(), z.array(z.string())]) })]);

const API_KEY = z.strictObject(
  {
    id,
    ...grants,
    mode,
    hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key in hexadecimal digits'),
    expiresAt: date.optional(),
    revokedAt: date.optional(),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? 'has an unknown field; give the hash, never the key' : undefined,
  },
);

const CLAIMS = z
  .strictObject({
    tenant: claim.optional(),
    workspaces: claim.optional(),
    scopes: claim.optional(),
    mode: claim.optional(),
  })
  .transform((claims) => defined(claims))
  .optional();

const STATUS_LISTS = z
  .strictObject({ uris: z.array(id).min(1), required: z.boolean().optional() })
  .transform((lists) => defined(lists))
  .optional();

const LANES_FILE = z.strictObject({
  origin: id.optional(),
  apiKeys: z.array(API_KEY).default([]),
  issuers: z
    .array(
      z.strictObject({
        issuer: id,
        audience: z.union([id, z.array(id).min(1)]),
        profile: z.enum(['user', 'client']),
        ...keySet,
        algorithms: z.array(z.enum(ALGORITHMS)).min(1).optional(),
        clockSkewSeconds: z.number().optional(),
        maxLifetimeSeconds: z.number().optional(),
        plainJwt: z.boolean().optional(),
        senderConstrained: z.boolean().optional(),
        tenants: z.array(id).min(1).optional(),
        claims: CLAIMS,
        statusLists: STATUS_LISTS,
      }),
    )
    .default([]),
  introspection: z
    .strictObject({
      issuer: id,
      endpoint: id,
      audience: z.union([id, z.array(id).min(1)]),
      clientId: id,
      clientSecretFile: id.optional(),
      answerFile: id.optional(),
      jwksFile: id.optional(),
      statusLists: STATUS_LISTS,
      maxLifetimeSeconds: z.number().optional(),
      senderConstrained: z.boolean().optional(),
      tenants: z.array(id).min(1).optional(),
      claims: CLAIMS,
    })
    .optional(),
  mtls: z.strictObject({ header: id.default('x-forwarded-client-cert') }).optional(),
  workloads: z
    .strictObject({
      audience: id,
      trustDomains: z.array(z.strictObject({ name: id, jwksFile: id, statusLists: STATUS_LISTS })).default([]),
      issuers: z
        .array(
          z.strictObject({
            scheme: z.enum(['cloud-subject', 'oauth-client']),
            issuer: id,
            ...keySet,
            statusLists: STATUS_LISTS,
          }),
        )
        .default([]),
      bindings: z.array(z.strictObject({ issuer: id, subject: id, ...grants, mode })).default([]),
      senderConstraint: z.array(z.enum(['dpop', 'mtls'])).default([]),
      delegation: z
        .strictObject({
          maxChainDepth: z.int().min(1).max(16),
          issuers: z.array(z.strictObject({ issuer: id, jwksFile: id })).min(1),
        })
        .optional(),
    })
    .optional(),
});

type LanesFile = z.output<typeof LANES_FILE>;
