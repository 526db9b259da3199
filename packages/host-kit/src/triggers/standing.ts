import { authorize, type Principal, type RoleAuthorizer } from '@svc/auth';
import type { StoredApiKey } from '@svc/auth/api-key';
import type { StoredAccess } from '../access/access-model.ts';
import { activeKey } from '../keys/active-key.ts';
import { accountOf } from '../keys/quota-uses.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Registrar, RegistrarIdentity, Trigger } from '../ports/triggers.ts';

export interface StandingOptions extends Pick<HostPorts, 'store' | 'clock'> {
  /** Knows withdrawn credentials and bound workloads. Undefined: the host withdraws and binds none. */
  readonly access: Pick<StoredAccess, 'isDenied' | 'hasWorkloads' | 'resolveWorkload'> | undefined;
  /** Decides by roles beside scopes. Undefined: scopes decide alone. */
  readonly roles: RoleAuthorizer | undefined;
  /** True: API keys are records of the store, and are judged by them. */
  readonly hasStoredKeys: boolean;
}

/** The principal as which a trigger starts runs now, or the reason why it starts none. */
export type Standing =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly problem: string };

/**
 * Judges the registrar of a trigger by the present state of its credential, its withdrawals and its roles. A token is not
 * judged by its expiry: it ends within minutes, and the authority of its subject does not.
 *
 * @throws {Error} when the store fails
 */
export async function standingOfRegistrar(
  options: StandingOptions,
  { registrar, workspace }: Pick<Trigger, 'registrar' | 'workspace'>,
): Promise<Standing> {
  const { access, roles } = options;
  const holder = await holderOf(options, registrar);
  if (holder === undefined) {
    return ended(registrar.lane === 'api-key' ? 'its API key was revoked or has expired' : 'its workload is not bound');
  }
  const { principals, tokens, tenancy } = registrar;
  const { tenant, mode } = tenancy;
  if ((await access?.isDenied({ tenant, mode, principals, tokens })) === true) return ended('it was withdrawn');
  if (!authorize(holder, START_SCOPE).allowed) return ended(`it no longer holds the scope ${START_SCOPE}`);
  const byRole = await roles?.authorize(holder, START_SCOPE);
  if (byRole?.allowed === false) return ended(`no role of it has the scope ${START_SCOPE}`);
  const reached = byRole?.allowed === true ? byRole.tenancy.workspaces : holder.tenancy.workspaces;
  // A trigger of the tenant has no workspace, and roles hold in workspaces alone.
  if (workspace === undefined ? reached !== 'all' : reached !== 'all' && !reached.includes(workspace))
    return ended('it no longer reaches the workspace of the trigger');
  const workspaces = workspace === undefined ? 'all' : [workspace];
  return { ok: true, principal: { ...holder, tenancy: { ...tenancy, workspaces } } };
}

/** The scope of every start of a run. */
export const START_SCOPE = 'runs:create';

function ended(reason: string): Standing {
  return { ok: false, problem: `registrar: ${reason}` };
}

/** The registrar with the scopes and workspaces that its credential has now; undefined when the credential has ended. */
async function holderOf(
  { store, clock, access, hasStoredKeys }: StandingOptions,
  { principals: _, tokens: _tokens, identities = [], ...registrar }: Registrar,
): Promise<Principal | undefined> {
  if (access?.hasWorkloads === true && identities.length > 0) return boundHolder(access, identities, registrar);
  if (!hasStoredKeys || registrar.lane !== 'api-key') return registrar;
  const key = await activeKey({ store, clock }, registrar, registrar.credentialId);
  if (key === undefined || key.principal !== registrar.id) return undefined;
  return { ...narrowed(registrar, key), credentialId: key.id, ...quotaOf(key) };
}

/** The quota that the key has now, with the account on which its requests draw. */
function quotaOf(key: StoredApiKey): Pick<Principal, 'quota'> {
  const { quota } = key;
  return quota === undefined ? {} : { quota: { limit: quota.limit, period: quota.period, account: accountOf(key) } };
}

/** A workload that is bound no more has ended, as a revoked key. */
async function boundHolder(
  { resolveWorkload }: Pick<StoredAccess, 'resolveWorkload'>,
  identities: readonly RegistrarIdentity[],
  registrar: Principal,
): Promise<Principal | undefined> {
  const { tenant, mode } = registrar.tenancy;
  let holder = registrar;
  for (const { scheme, issuer, subject, principal } of identities) {
    const binding = await resolveWorkload({ scheme, issuer, subject });
    if (binding?.tenant !== tenant || binding.mode !== mode || binding.principal !== principal) return undefined;
    holder = narrowed(holder, binding);
  }
  return holder;
}

/** A principal with no more than its credential gives now. */
function narrowed(holder: Principal, { scopes, workspaces }: Pick<StoredApiKey, 'scopes' | 'workspaces'>): Principal {
  const { tenancy } = holder;
  return {
    ...holder,
    scopes: holder.scopes.filter((scope) => authorize({ scopes }, scope).allowed || scopes.includes(scope)),
    tenancy: { ...tenancy, workspaces: common(tenancy.workspaces, workspaces) },
  };
}

function common(before: 'all' | readonly string[], now: 'all' | readonly string[]): 'all' | readonly string[] {
  if (before === 'all') return now;
  return now === 'all' ? before : before.filter((workspace) => now.includes(workspace));
}
