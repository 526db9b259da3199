import { isGrantableScope, isOpaqueId } from '@svc/auth';
import { acceptsForeignKey, apiKeyState, type StoredApiKey } from '@svc/auth/api-key';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { QuotaUse } from '../keys/quota-uses.ts';
import { addressBlockProblem } from '../keys/restrictions.ts';

const TIME = z.iso.datetime({ offset: true });
/** A key in a text for people would be stored and shown as it is. */
const MINTED = /svc_(?:live|test)_[0-9a-f]{32}/;

const label = (longest: number) =>
  z
    .string()
    .min(1, { abort: true })
    .max(longest)
    .regex(/^[^\p{C}]+$/u, 'must have no control characters')
    .refine((text) => !MINTED.test(text), 'must not contain an API key');

const scopes = z
  .array(z.string().refine(isGrantableScope, 'must be a scope such as runs:read or runs:*'))
  .min(1)
  .max(64)
  .describe('Scopes. A segment may be `*`.');

const rateLimit = z
  .strictObject({ limit: z.int().min(1).max(1_000_000_000), windowSeconds: z.int().min(1).max(86_400) })
  .describe('The most requests in a window, on each host.');

const quota = z
  .strictObject({
    limit: z.int().min(1).max(1_000_000_000_000).describe('Requests in a period.'),
    period: z.enum(['day', 'month']).describe('In UTC: a day begins at 00:00, a month on its first day.'),
  })
  .describe('The most requests in a calendar period, on all hosts of the store together.');

/** The record schema drops this name without a word. */
function refuseProto(value: unknown, context: z.RefinementCtx): unknown {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'must have another name', input: value });
  }
  return value;
}

const block = z.string().superRefine((text, context) => {
  const problem = addressBlockProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const principal = z
  .string()
  .refine((id) => isOpaqueId(id) && !acceptsMinted(id), 'must be an opaque id, without @, white space and slash')
  .describe('The principal for whom the key acts. Default: the caller. Another one needs the scope `keys:assign`.');

function acceptsMinted(text: string): boolean {
  return MINTED.test(text) && acceptsForeignKey(text);
}

/** The body of a request for a new key. */
export interface NewKeyBody {
  readonly name: string;
  readonly scopes: string[];
  readonly workspaces?: string[] | undefined;
  readonly principal?: string | undefined;
  readonly principalKind?: 'user' | 'agent' | undefined;
  readonly expiresAt?: string | undefined;
  readonly metadata?: Record<string, string> | undefined;
  readonly rateLimit?: { limit: number; windowSeconds: number } | undefined;
  readonly quota?: { limit: number; period: 'day' | 'month' } | undefined;
  readonly allowedAddresses?: string[] | undefined;
}

/** The schema of a request for a new key. */
export const newKeyBody: z.ZodType<NewKeyBody> = z
  .strictObject({
    name: label(128).describe('A name for people.'),
    scopes,
    workspaces: z
      .array(z.string().refine((name) => name === '*' || isOpaqueId(name), 'must be a workspace or "*"'))
      .min(1)
      .max(256)
      .refine((names) => names.length === 1 || !names.includes('*'), 'must be either ["*"] or names')
      .optional()
      .describe('The workspaces that the key reaches. `["*"]`: all of the tenant. Default: those of the caller.'),
    principal: principal.optional(),
    principalKind: z.enum(['user', 'agent']).optional().describe('The kind of another principal. Default: a workload.'),
    expiresAt: TIME.optional().describe('Default: the expiry of the caller, or never.'),
    metadata: z
      .preprocess(refuseProto, z.record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/), label(256)))
      .refine((entries) => Object.keys(entries).length <= 16, 'must have 16 entries at most')
      .optional()
      .describe('Short texts of yours, for lists. They are not secret.'),
    rateLimit: rateLimit.optional(),
    quota: quota.optional(),
    allowedAddresses: z
      .array(block)
      .min(1)
      .max(64)
      .optional()
      .describe('Blocks of client addresses, such as `192.0.2.0/24`. Default: those of the caller, or every address.'),
  })
  .meta({ id: 'NewApiKey' });

/** The body of a change. */
export interface KeyChangeBody {
  readonly name?: string | undefined;
  readonly scopes?: string[] | undefined;
  readonly expiresAt?: string | null | undefined;
  readonly quota?: { limit: number; period: 'day' | 'month' } | null | undefined;
}

/** The schema of a change. */
export const keyChangeBody: z.ZodType<KeyChangeBody> = z
  .strictObject({
    name: label(128).optional(),
    scopes: scopes.optional().describe('Scopes that the key has already.'),
    expiresAt: TIME.nullable().optional().describe('Null: never.'),
    quota: quota.nullable().optional().describe('Null: none. The count goes on with the new limit.'),
  })
  .refine((change) => Object.keys(change).length > 0, 'must have name, scopes, expiresAt or quota')
  .meta({ id: 'ApiKeyChange' });

/** The body of a rotation. */
export interface RotationBody {
  readonly graceSeconds: number;
  readonly expiresAt?: string | undefined;
}

/** The schema of a rotation. */
export const rotationBody: z.ZodType<RotationBody> = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(2_592_000)
      .default(86_400)
      .describe('The time for which the old key stays valid, in seconds. 0: it is revoked at once.'),
    expiresAt: TIME.optional().describe('The expiry of the new key. Default: that of the old one.'),
  })
  .meta({ id: 'ApiKeyRotation' });

/** The schema of a key. It never has the key itself. */
export const apiKeyView: z.ZodObject = z
  .object({
    id: z.string().describe('Names the key in lists, logs and limits. Not secret.'),
    name: z.string(),
    prefix: z
      .string()
      .optional()
      .describe('The visible beginning of the key. Absent: the host has never seen the key.'),
    state: z.enum(['active', 'expired', 'revoked']).describe('A key in its grace period is active.'),
    source: z.enum(['operation', 'configuration']).describe('`configuration`: only the configuration changes the key.'),
    tenant: z.string(),
    mode: z.enum(['live', 'test']),
    workspaces: z.array(z.string()).describe('`["*"]`: all of the tenant.'),
    principal: z.string(),
    principalKind: z.enum(['user', 'agent']).optional(),
    scopes: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
    rateLimit: z.object({ limit: z.int(), windowSeconds: z.int() }).optional(),
    quota: z
      .object({
        limit: z.int(),
        period: z.enum(['day', 'month']),
        used: z
          .int()
          .optional()
          .describe('Requests in this period, up to a minute late. Absent in the reply to a creation and a rotation.'),
        renewsAt: z.iso.datetime().optional().describe('The end of this period.'),
      })
      .optional()
      .describe('A key and those that replaced it, or that it made, are counted together.'),
    allowedAddresses: z.array(z.string()).optional(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
    revokedAt: z.iso.datetime().optional().describe('In the future: the end of the grace period of a rotated key.'),
    lastUsedAt: z.iso.datetime().optional().describe('Up to a minute late. Absent: not used yet.'),
    rotatedFrom: z.string().optional().describe('The id of the key that this one replaced.'),
    rotatedTo: z.string().optional().describe('The id of the key that replaced this one.'),
  })
  .meta({ id: 'ApiKey' });

/** The schema of a page of keys. */
export const apiKeyPage: z.ZodType = z
  .object({
    keys: z.array(apiKeyView),
    nextAfter: z.string().optional().describe('The `after` of the next page. Absent on the last one.'),
  })
  .meta({ id: 'ApiKeys' });

const SHOWN_KEY = {
  apiKey: apiKeyView,
  key: z
    .string()
    .optional()
    .describe('The key. It is shown once: the reply to a repeated `Idempotency-Key` has `keyShownBefore` instead.'),
  keyShownBefore: z.literal(true).optional(),
};

/** The schema of the answer to a creation. */
export const createdKey: z.ZodType = z.object(SHOWN_KEY).meta({ id: 'CreatedApiKey' });

/** The schema of the answer to a rotation. */
export const rotatedKey: z.ZodType = z
  .object({ ...SHOWN_KEY, retired: apiKeyView.describe('The old key.') })
  .meta({ id: 'RotatedApiKey' });

/** A key as its tenant sees it, without its hash. */
export function viewOfKey(key: StoredApiKey, now: number, use?: QuotaUse): JsonObject {
  const { id, name, prefix, source, tenant, mode, workspaces, principal, principalKind, metadata, quota } = key;
  const time = (at: number | undefined, field: string) =>
    at === undefined ? {} : { [field]: new Date(at).toISOString() };
  return {
    id,
    name,
    ...(prefix !== '' && { prefix }),
    state: apiKeyState(key, now),
    source,
    tenant,
    mode,
    workspaces: workspaces === 'all' ? ['*'] : [...workspaces],
    principal,
    ...(principalKind !== undefined && { principalKind }),
    scopes: [...key.scopes],
    metadata: { ...metadata },
    ...(key.rateLimit !== undefined && { rateLimit: { ...key.rateLimit } }),
    ...(quota !== undefined && {
      quota: {
        limit: quota.limit,
        period: quota.period,
        ...(use !== undefined && { used: use.used, renewsAt: new Date(use.renewsAt).toISOString() }),
      },
    }),
    ...(key.allowedAddresses !== undefined && { allowedAddresses: [...key.allowedAddresses] }),
    ...time(key.createdAt, 'createdAt'),
    ...time(key.expiresAt, 'expiresAt'),
    ...time(key.revokedAt, 'revokedAt'),
    ...time(key.lastUsedAt, 'lastUsedAt'),
    ...(key.rotatedFrom !== undefined && { rotatedFrom: key.rotatedFrom }),
    ...(key.rotatedTo !== undefined && { rotatedTo: key.rotatedTo }),
  };
}
