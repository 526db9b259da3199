import type { z } from 'zod';
import type { authenticationConfig } from './config-authentication.ts';
import type { callers } from './config-callers.ts';

/** The part of the configuration in which keys depend on other keys. */
type Referring = z.infer<z.ZodObject<typeof callers & typeof authenticationConfig>> & {
  readonly store: string;
  readonly secretKey?: string | undefined;
  readonly formerSecretKeys: readonly string[];
  readonly pseudonymKey?: string | undefined;
  readonly mounts: { readonly publicChat?: { readonly tenant: string; readonly workspace: string } | undefined };
};

/** Reports keys that are required because of other keys, and names that no other key defines. */
export function checkReferences(config: Referring, context: z.RefinementCtx): void {
  for (const check of [requiredKeys, roles, bindings, apiKeys, publicChat]) {
    check(config, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
  }
}

type Report = (path: readonly (string | number)[], message: string) => void;

function requiredKeys({ store, secretKey, formerSecretKeys, pseudonymKey, oidc, oauth2 }: Referring, report: Report) {
  if (/^postgres/.test(store) && secretKey === undefined) {
    report(
      ['secretKey'],
      'is required with PostgreSQL. Set it to the same 32 bytes in base64 on every host: `openssl rand -base64 32`.',
    );
  }
  const isPseudonymous = [oidc, oauth2].some((lane) => lane?.issuers.some((one) => one.pseudonymous));
  if (isPseudonymous && formerSecretKeys.length > 0 && pseudonymKey === undefined) {
    report(
      ['pseudonymKey'],
      'is required when formerSecretKeys is set and an issuer is pseudonymous. Set it to your first secretKey, or every user gets a new pseudonym.',
    );
  }
}

function roles({ authorization }: Referring, report: Report) {
  const defined = new Set(authorization?.roles.map(({ role }) => role));
  for (const [index, { role }] of (authorization?.assignments ?? []).entries()) {
    if (defined.has(role)) continue;
    report(
      ['authorization', 'assignments', index, 'role'],
      'must be one of authorization.roles. Add the role there, or correct its name.',
    );
  }
}

const UNKNOWN_TENANT = 'must be the id of one of tenants. Add the tenant there, or correct its id.';

function bindings({ workloadIdentity, tenants }: Referring, report: Report) {
  const ids = new Set(tenants.map(({ id }) => id));
  for (const [index, { tenant }] of (workloadIdentity?.bindings ?? []).entries()) {
    if (!ids.has(tenant)) report(['workloadIdentity', 'bindings', index, 'tenant'], UNKNOWN_TENANT);
  }
}

function apiKeys(config: Referring, report: Report) {
  const workspacesOf = new Map(config.tenants.map(({ id, workspaces }) => [id, workspaces]));
  for (const [index, { tenant, workspaces }] of config.apiKeys.entries()) {
    const known = workspacesOf.get(tenant);
    if (known === undefined) report(['apiKeys', index, 'tenant'], UNKNOWN_TENANT);
    else if (!workspaces.every((workspace) => workspace === '*' || known.includes(workspace))) {
      report(
        ['apiKeys', index, 'workspaces'],
        'must be workspaces of the tenant of the key. Add them there, or use ["*"] for all.',
      );
    }
    if (workspaces.includes('*') && workspaces.length > 1) {
      report(['apiKeys', index, 'workspaces'], 'must be either ["*"] or names. Remove "*", or the names.');
    }
  }
}

function publicChat({ mounts, tenants }: Referring, report: Report) {
  if (mounts.publicChat === undefined) return;
  const { tenant, workspace } = mounts.publicChat;
  const known = tenants.find(({ id }) => id === tenant);
  if (known === undefined) report(['mounts', 'publicChat', 'tenant'], UNKNOWN_TENANT);
  else if (!known.workspaces.includes(workspace)) {
    report(
      ['mounts', 'publicChat', 'workspace'],
      'must be a workspace of that tenant. Add it to tenants, or correct its name.',
    );
  }
}
