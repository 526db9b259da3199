import { dirname, relative, resolve, sep } from 'node:path';
import type { z } from 'zod';
import type { authenticationConfig } from './config-authentication.ts';
import type { callers } from './config-callers.ts';
import type { Report } from './config-contradictions.ts';
import { doubles } from './config-doubles.ts';
import { workloadIssuers } from './config-workload-identity.ts';

/** The part of the configuration in which keys depend on other keys. */
type Referring = z.infer<z.ZodObject<typeof callers & typeof authenticationConfig>> & {
  readonly store: string;
  readonly engine: 'steps' | 'dbos' | 'restate';
  readonly restate?: { readonly host: string; readonly port: number } | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  readonly audit: {
    readonly checkpointFile: string | null;
    readonly origin?: string | undefined;
    readonly witness: object | null;
  };
  readonly secretKey?: string | undefined;
  readonly formerSecretKeys: readonly string[];
  readonly pseudonymKey?: string | undefined;
  readonly workspaceDiscovery?: readonly { readonly tenant: string; readonly workspace: string }[] | undefined;
  readonly triggers?:
    | Readonly<
        Record<
          'queues' | 'changes',
          Readonly<Record<string, { readonly grants: readonly { readonly tenant: string }[] }>>
        >
      >
    | undefined;
  readonly mounts: { readonly publicChat?: { readonly tenant: string; readonly workspace: string } | undefined };
};

/** Reports keys that are required because of other keys, and names that no other key defines. */
export function checkReferences(config: Referring, context: z.RefinementCtx): void {
  for (const check of [
    requiredKeys,
    engineOnStore,
    engineOnRestate,
    doubles,
    roles,
    bindings,
    issuerGrants,
    apiKeys,
    groups,
    publicChat,
    sourceGrants,
    workspaceViews,
    checkpointFile,
    witnessOrigin,
  ]) {
    check(config, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
  }
}

function requiredKeys(
  { store, secretKey, formerSecretKeys, pseudonymKey, oidc, oauth2, introspection }: Referring,
  report: Report,
) {
  if (/^postgres/.test(store) && secretKey === undefined) {
    report(
      ['secretKey'],
      'is required with PostgreSQL. Set it to the same 32 bytes in base64 on every host: `openssl rand -base64 32`.',
    );
  }
  const isPseudonymous =
    [oidc, oauth2].some((lane) => lane?.issuers.some((one) => one.pseudonymous)) || introspection?.pseudonymous;
  if (isPseudonymous && formerSecretKeys.length > 0 && pseudonymKey === undefined) {
    report(
      ['pseudonymKey'],
      'is required when formerSecretKeys is set and an issuer is pseudonymous. Set it to your first secretKey, or every user gets a new pseudonym.',
    );
  }
}

function engineOnStore({ engine, store }: Referring, report: Report) {
  if (engine === 'dbos' && !/^postgres/.test(store)) {
    report(['engine'], 'dbos needs a PostgreSQL. Set store to postgres://USER@HOST/DATABASE, or engine to steps.');
  }
}

function engineOnRestate({ engine, restate, listen }: Referring, report: Report) {
  if (engine === 'restate' && restate === undefined) {
    report(['engine'], 'restate needs a cluster. Set restate to its URLs and a port, or engine to steps.');
  }
  if (restate === undefined) return;
  if (engine !== 'restate') report(['restate'], 'needs engine: restate. Set engine, or remove this key.');
  if (restate.port !== 0 && restate.port === listen.port && restate.host === listen.host) {
    report(['restate', 'port'], 'is that of listen. Set another one.');
  }
}

function roles({ authorization, tenants }: Referring, report: Report) {
  const defined = new Set(authorization?.roles.map(({ role }) => role));
  for (const [index, { role, tenant, workspace }] of (authorization?.assignments ?? []).entries()) {
    const path = ['authorization', 'assignments', index];
    if (!defined.has(role)) {
      report([...path, 'role'], 'must be one of authorization.roles. Add the role there, or correct its name.');
    }
    const among = tenants.filter(({ id }) => tenant === undefined || id === tenant);
    if (among.length === 0) report([...path, 'tenant'], UNKNOWN_TENANT);
    else if (!among.some(({ workspaces }) => workspaces.includes(workspace)))
      report([...path, 'workspace'], UNKNOWN_WORKSPACE);
  }
}

const UNKNOWN_WORKSPACE = 'must be a workspace of that tenant. Add it to tenants, or correct its name.';
const UNKNOWN_TENANT = 'must be the id of one of tenants. Add the tenant there, or correct its id.';

function bindings({ workloadIdentity, tenants }: Referring, report: Report) {
  const workspacesOf = new Map(tenants.map(({ id, workspaces }) => [id, workspaces]));
  for (const [index, { tenant, workspaces }] of (workloadIdentity?.bindings ?? []).entries()) {
    const path = ['workloadIdentity', 'bindings', index];
    const known = workspacesOf.get(tenant);
    if (known === undefined) report([...path, 'tenant'], UNKNOWN_TENANT);
    else if (!workspaces.every((workspace) => workspace === '*' || known.includes(workspace)))
      report([...path, 'workspaces'], 'must be workspaces of that tenant. Add them there, or use ["*"] for all.');
  }
}

function issuerGrants({ workloadIdentity: workloads, tenants }: Referring, report: Report) {
  if (workloads === undefined) return;
  const known = workloadIssuers(workloads);
  for (const [index, { tenant, issuer, subjectPrefix = '' }] of workloads.grants.entries()) {
    const path = ['workloadIdentity', 'grants', index];
    if (!tenants.some(({ id }) => id === tenant)) report([...path, 'tenant'], UNKNOWN_TENANT);
    if (!known.includes(issuer))
      report(
        [...path, 'issuer'],
        'must be an issuer of workloadIdentity. Add it there, or correct it: a trust domain begins with spiffe://.',
      );
    else if (issuer.startsWith('spiffe://') && subjectPrefix !== '' && !subjectPrefix.startsWith(`${issuer}/`))
      report([...path, 'subjectPrefix'], 'must begin with the trust domain in issuer and a slash. Add them.');
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

function groups({ groups: defined, tenants }: Referring, report: Report) {
  const ids = new Set(tenants.map(({ id }) => id));
  for (const [index, { tenant }] of defined.entries()) {
    if (!ids.has(tenant)) report(['groups', index, 'tenant'], UNKNOWN_TENANT);
  }
}

function publicChat({ mounts, tenants }: Referring, report: Report) {
  if (mounts.publicChat === undefined) return;
  const { tenant, workspace } = mounts.publicChat;
  const known = tenants.find(({ id }) => id === tenant);
  if (known === undefined) report(['mounts', 'publicChat', 'tenant'], UNKNOWN_TENANT);
  else if (!known.workspaces.includes(workspace)) {
    report(['mounts', 'publicChat', 'workspace'], UNKNOWN_WORKSPACE);
  }
}

function sourceGrants({ triggers, tenants }: Referring, report: Report) {
  const ids = new Set(tenants.map(({ id }) => id));
  for (const source of ['queues', 'changes'] as const) {
    for (const [name, { grants }] of Object.entries(triggers?.[source] ?? {})) {
      for (const [index, { tenant }] of grants.entries()) {
        if (!ids.has(tenant)) report(['triggers', source, name, 'grants', index, 'tenant'], UNKNOWN_TENANT);
      }
    }
  }
}

function workspaceViews({ workspaceDiscovery = [], tenants }: Referring, report: Report) {
  for (const [index, { tenant, workspace }] of workspaceDiscovery.entries()) {
    const known = tenants.find(({ id }) => id === tenant);
    if (known === undefined) report(['workspaceDiscovery', index, 'tenant'], UNKNOWN_TENANT);
    else if (!known.workspaces.includes(workspace))
      report(['workspaceDiscovery', index, 'workspace'], UNKNOWN_WORKSPACE);
  }
}

/** Without a fixed name, a changed port or URL would begin a new log at the witness. */
function witnessOrigin({ audit }: Referring, report: Report) {
  if (audit.witness !== null && audit.origin === undefined)
    report(['audit', 'origin'], 'is required with a witness. Write the name under which the witness knows the log.');
}

/** A copy of the database's folder, or its restoration, must not take the file along. */
function checkpointFile({ store, audit }: Referring, report: Report) {
  const path = ['audit', 'checkpointFile'];
  if (audit.checkpointFile === null) return;
  if (store === 'memory:')
    report(path, 'needs a store that outlives the process. Set store to a database, or remove this key.');
  if (!store.startsWith('sqlite:')) return;
  const way = relative(dirname(resolve(store.slice('sqlite:'.length))), resolve(audit.checkpointFile));
  const isOutside = way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way;
  if (!isOutside) report(path, 'must be outside of the folder of the database. Name a file on another volume.');
}
