import { acceptsForeignKey } from '@svc/auth/api-key';
import { addressBlockProblem } from '@svc/host-kit';
import { z } from 'zod';
import { mode, opaqueId, scope, tenantId, time, workspaceId } from './config-values.ts';

const tenant = z
  .strictObject({
    id: tenantId.describe('Id of the tenant: 1 to 128 characters of A-Z a-z 0-9 . _ ~ -'),
    workspaces: z.array(workspaceId).default([]).describe('Names of its workspaces. Default: none.'),
  })
  .refine(({ id, workspaces }) => !workspaces.includes(id), {
    path: ['workspaces'],
    error: 'must not contain the name of the tenant. Rename that workspace.',
  });

const apiKey = z
  .strictObject({
    id: opaqueId.describe('Id of the key, for logs and limits. It is not secret.'),
    key: z
      .string()
      .refine(
        acceptsForeignKey,
        'must be 32 to 512 letters, digits or -._~+/, with = at the end only. Generate a key with `openssl rand -hex 32`.',
      )
      .optional()
      .describe('The key itself, for development. It is hashed when it is read. Give either key or hash.'),
    hash: z
      .string()
      .regex(
        /^[0-9a-f]{64}$/,
        'must be 64 lower-case hexadecimal digits. Give the SHA-256 of the key, as `sha256sum` prints it.',
      )
      .optional()
      .describe('SHA-256 of the key, in lower-case hexadecimal. Give either key or hash.'),
    name: z.string().min(1).max(128).optional().describe('Name of the key, for lists. Default: its id.'),
    tenant: z.string().describe('Id of the tenant that the key belongs to. It must be one of tenants.'),
    workspaces: z
      .array(z.string())
      .min(1)
      .describe('Workspaces that the key reaches. ["*"]: every workspace of its tenant.'),
    principal: opaqueId.describe('Opaque id of the caller: no @, white space or slash.'),
    principalKind: z.enum(['user', 'agent']).optional().describe('Kind of the caller. Default: a workload.'),
    scopes: z.array(scope).describe('Scopes that the key grants, such as runs:read or runs:*.'),
    mode: mode.default('live').describe('A key of either mode reaches the records of that mode alone.'),
    expiresAt: time
      .nullable()
      .optional()
      .describe('Time from which the key is rejected, with an offset. Default: never.'),
    rateLimit: z
      .strictObject({
        limit: z.int().min(1).describe('Requests per window.'),
        windowSeconds: z.int().min(1).max(86_400).describe('Length of the window in seconds.'),
      })
      .optional()
      .describe('The most requests of the key on each host, beside rateLimit of the host. Default: none of its own.'),
    quota: z
      .strictObject({
        limit: z.int().min(1).max(1_000_000_000_000).describe('Requests per period.'),
        period: z.enum(['day', 'month']).describe('Period in UTC: a day begins at 00:00, a month on its first day.'),
      })
      .optional()
      .describe('The most requests of the key in a period, on all hosts of the store together. Default: no quota.'),
    allowedAddresses: z
      .array(
        z
          .string()
          .refine(
            (block) => addressBlockProblem(block) === undefined,
            'must be a block of addresses, of IPv6 with 64 bits at most. Use one such as 192.0.2.0/24 or 2001:db8::/32.',
          ),
      )
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Blocks of client addresses from which the key is accepted, as trustedProxies tells them. Default: all.',
      ),
    revokedAt: time
      .nullable()
      .optional()
      .describe('Time of its revocation, with an offset. From then on the key is rejected. Default: not revoked.'),
  })
  .refine(
    ({ key, hash }) => (key === undefined) !== (hash === undefined),
    'must have either key or hash. Give one of them, not both.',
  )
  .refine(({ key = '', mode }) => !key.startsWith(mode === 'live' ? 'svc_test_' : 'svc_live_'), {
    path: ['mode'],
    error: 'contradicts the prefix of key. Set it to the mode of the key, or give another key.',
  });

const group = z.strictObject({
  id: opaqueId.describe('Id of the group, which approvals name in approverGroupRefs.'),
  tenant: z.string().describe('Id of the tenant that the group belongs to. It must be one of tenants.'),
  members: z.array(opaqueId).describe('Principals of the group.'),
});

/** Tenants and their API keys. The other kinds of credentials are in `config-authentication.ts`. */
export const callers = {
  tenants: z.array(tenant).default([]).describe('Tenants of the host, with their workspaces.'),
  apiKeys: z.array(apiKey).default([]).describe('API keys that the host accepts.'),
  groups: z.array(group).default([]).describe('Groups of principals, whose members can answer approvals.'),
};
