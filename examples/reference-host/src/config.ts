import { isGrantableScope, isOpaqueId } from '@svc/auth';
import { acceptsForeignKey } from '@svc/auth/api-key';
import { isTenantId, isWorkspaceId } from '@svc/versioning/ids';
import { z } from 'zod';
import { authenticationConfig } from './config-authentication.ts';
import { cidr } from './config-network.ts';

const port = z.int().min(0).max(65_535);
const durationMs = z.int().min(1);
const version = z.string().regex(/^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/, 'must be <major>.<minor>, such as 1.1');
const time = z.iso.datetime({ offset: true });
const origin = z.url({ protocol: /^https?$/ }).refine((text) => new URL(text).origin === text.replace(/\/$/, ''), {
  error: 'must be an origin such as https://svc.example.com, without path',
});

const apiKey = z
  .strictObject({
    id: z.string().refine(isOpaqueId, 'must be an opaque id: no @, white space or slash'),
    key: z.string().refine(acceptsForeignKey, 'must be 32 to 512 characters of A-Z a-z 0-9 - . _ ~ + /').optional(),
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .optional(),
    tenant: z.string(),
    workspaces: z.array(z.string()).min(1),
    principal: z.string().refine(isOpaqueId, 'must be an opaque id: no @, white space or slash'),
    principalKind: z.enum(['user', 'agent']).optional(),
    scopes: z.array(z.string().refine(isGrantableScope, 'must be a scope such as runs:read')),
    mode: z.enum(['live', 'test']).default('live'),
    expiresAt: time.nullable().optional(),
    revokedAt: time.nullable().optional(),
  })
  .refine(({ key, hash }) => (key === undefined) !== (hash === undefined), 'must have either key or hash');

const tenant = z
  .strictObject({
    id: z.string().refine(isTenantId, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -'),
    workspaces: z
      .array(z.string().refine(isWorkspaceId, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -'))
      .default([]),
  })
  .refine(({ id, workspaces }) => !workspaces.includes(id), {
    path: ['workspaces'],
    error: 'must not contain the name of the tenant, which is never a workspace',
  });

const retryPolicy = z.strictObject({
  maxAttempts: z.int().min(1).max(100).default(3),
  backoff: z.enum(['none', 'fixed', 'exponential']).default('fixed'),
  delayMs: z.int().min(0).default(1000),
  maxDelayMs: z.int().min(0).default(30_000),
});

const circuit = z.strictObject({
  failureThreshold: z.int().min(1).default(4),
  cooldownMs: durationMs.default(3_600_000),
  failureLimit: z.int().min(1).max(10_000).default(100),
  failureWindowMs: durationMs.default(604_800_000),
});

const key32 = z.base64().refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64');

const publicKey = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === 44, 'must be a checkpointPublicKey as discovery had it');

const webhookSigning = {
  signatureAlgorithms: z
    .array(z.enum(['v1', 'standard-webhooks-1']))
    .refine((algorithms) => algorithms.includes('v1'), 'must contain v1')
    .refine((algorithms) => new Set(algorithms).size === algorithms.length, 'must not repeat an entry')
    .default(['v1', 'standard-webhooks-1']),
  secretRotation: z.strictObject({ overlapSeconds: z.int().min(60).max(604_800).default(86_400) }).prefault({}),
};

const schema = z
  .strictObject({
    listen: z.strictObject({ host: z.string().min(1).default('127.0.0.1'), port: port.default(8787) }).prefault({}),
    baseUrl: origin.optional(),
    org: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and hyphens')
      .default('example'),
    store: z
      .string()
      .regex(/^(?:memory:|sqlite:.+|postgres(?:ql)?:\/\/.+)$/, 'must be memory:, sqlite:PATH or postgres://…')
      .default('sqlite:./svc.db'),
    secretKey: key32.optional(),
    formerSecretKeys: z.array(key32).max(16).default([]),
    pseudonymKey: key32.optional(),
    protocol: z
      .strictObject({
        versions: z.array(version).min(1).default(['1.1', '2.0']),
        preferred: version.optional(),
        minClientVersion: version.optional(),
        retirement: z
          .strictObject({
            deprecatedAt: z.iso.datetime(),
            sunsetAt: z.iso.datetime().optional(),
            link: z.url().optional(),
          })
          .optional(),
      })
      .prefault({}),
    tenants: z.array(tenant).default([]),
    apiKeys: z.array(apiKey).default([]),
    rateLimit: z.strictObject({ limit: z.int().min(1), windowSeconds: z.int().min(1) }).optional(),
    webhooks: z
      .strictObject({
        durable: z.boolean().default(false),
        retryPolicy: retryPolicy.prefault({}),
        attemptTimeoutMs: durationMs.default(5000),
        circuit: circuit.prefault({}),
        deadLetter: z.strictObject({ retentionDays: z.number().positive().default(30) }).prefault({}),
        concurrency: z
          .strictObject({ total: z.int().min(1).default(64), perSubscription: z.int().min(1).default(4) })
          .prefault({}),
        ...webhookSigning,
        tenantIdOptional: z.boolean().default(false),
      })
      .prefault({}),
    mounts: z
      .strictObject({
        a2a: z.boolean().default(true),
        mcp: z.boolean().default(false),
        chat: z.boolean().default(true),
      })
      .prefault({}),
    streams: z
      .strictObject({
        places: z
          .strictObject({
            perRun: z.int().min(1).default(500),
            perCredential: z.int().min(1).default(500),
            total: z.int().min(1).default(2000),
          })
          .prefault({}),
        keepAliveMs: durationMs.max(30_000).default(15_000),
        judgeEveryMs: durationMs.default(30_000),
        stallMs: durationMs.default(30_000),
      })
      .prefault({}),
    egress: z
      .strictObject({
        allowLoopback: z.union([z.boolean(), z.array(z.int().min(1).max(65_535))]).default(false),
        denyCidrs: z.array(cidr).default([]),
        allowCidrs: z.array(cidr).default([]),
        caFile: z.string().nullable().default(null),
      })
      .prefault({}),
    telemetry: z.strictObject({ incomingTraces: z.enum(['continue', 'link']).default('continue') }).prefault({}),
    shutdown: z.strictObject({ drainMs: z.int().min(0).max(600_000).default(0) }).prefault({}),
    limits: z.strictObject({ maxRequestBodyBytes: z.int().min(1024).default(1_048_576) }).prefault({}),
    ...authenticationConfig,
    audit: z
      .strictObject({
        checkpointIntervalEntries: z.int().min(1).max(100_000).default(1000),
        checkpointIntervalSeconds: z.int().min(1).default(300),
        signingKeyFile: z.string().nullable().default(null),
        formerPublicKeys: z.array(publicKey).max(64).default([]),
      })
      .prefault({}),
    workspaceFiles: z
      .strictObject({
        enabled: z.boolean().default(true),
        maxFileBytes: z.int().min(1).default(65_536),
        maxFiles: z.int().min(1).max(10_000).default(256),
        maxVersions: z.int().min(1).max(1000).default(10),
      })
      .prefault({}),
  })
  .superRefine((config, context) => {
    const { store, secretKey, tenants, apiKeys, authorization, workloadIdentity } = config;
    const workspacesOf = new Map(tenants.map(({ id, workspaces }) => [id, workspaces]));
    if (/^postgres/.test(store) && secretKey === undefined) {
      const message = 'is needed with PostgreSQL, where hosts share it: 32 bytes in base64';
      context.addIssue({ code: 'custom', path: ['secretKey'], message });
    }
    const isPseudonymous = [config.oidc, config.oauth2].some((lane) => lane?.issuers.some((one) => one.pseudonymous));
    if (isPseudonymous && config.formerSecretKeys.length > 0 && config.pseudonymKey === undefined) {
      const message =
        'is needed with formerSecretKeys where an issuer is pseudonymous, or everybody would be somebody else: the secretKey that was in use at first';
      context.addIssue({ code: 'custom', path: ['pseudonymKey'], message });
    }
    const roles = new Set(authorization?.roles.map(({ role }) => role));
    for (const [index, { role }] of (authorization?.assignments ?? []).entries()) {
      const path = ['authorization', 'assignments', index, 'role'];
      if (!roles.has(role)) context.addIssue({ code: 'custom', path, message: 'must be one of authorization.roles' });
    }
    for (const [index, { tenant }] of (workloadIdentity?.bindings ?? []).entries()) {
      const path = ['workloadIdentity', 'bindings', index, 'tenant'];
      if (!workspacesOf.has(tenant))
        context.addIssue({ code: 'custom', path, message: 'must be the id of one of tenants' });
    }
    for (const [index, key] of apiKeys.entries()) {
      const known = workspacesOf.get(key.tenant);
      const report = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: ['apiKeys', index, field], message });
      if (known === undefined) report('tenant', 'must be the id of one of tenants');
      else if (!key.workspaces.every((workspace) => workspace === '*' || known.includes(workspace))) {
        report('workspaces', 'must name workspaces of its tenant, or be ["*"]');
      }
      if (key.workspaces.includes('*') && key.workspaces.length > 1)
        report('workspaces', 'must hold "*" alone or names alone');
    }
  });

export type Config = z.infer<typeof schema>;

/** The configuration file as JSON Schema, published as `config.schema.json`. */
export function configJsonSchema(): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  /** One line each: where, what is wrong, what is accepted. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a configuration from the text of its file. */
export function parseConfig(text: string): ParsedConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, problems: ['the file: is not JSON'] };
  }
  const result = schema.safeParse(json);
  if (result.success) return { ok: true, config: result.data };
  return { ok: false, problems: result.error.issues.flatMap(problemsOf) };
}

function problemsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${pathOf([...issue.path, key])}: is not a key of this configuration`);
  }
  return [`${pathOf(issue.path)}: ${issue.message}`];
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return text.replace(/^\./, '') || 'the file';
}
