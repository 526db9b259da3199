import { AuthError, type Principal } from '@svc/auth';
import { apiKeyState, excessOf, holdsScope } from '@svc/auth/api-key';
import { HostError } from '../errors.ts';
import type { StoredApiKey } from '../ports/api-keys.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { KeyServices } from './key-services.ts';
import { accountOf } from './quota-uses.ts';
import type { KeyRestrictions } from './restrictions.ts';

/**
 * Requires that the caller may give the authority of a key.
 *
 * @throws {HostError} `forbidden` for authority that the caller lacks; {AuthError} for a sign-in that does not suffice
 */
export function requireGivable(
  { requireSignIn }: Pick<KeyServices, 'requireSignIn'>,
  caller: Principal,
  key: StoredApiKey,
): void {
  const [excess] = excessOf(caller, key);
  if (excess !== undefined) throw tooMuch(`${excess.field}: ${excess.problem}.`);
  if (key.principal === caller.id) return;
  if (!holdsScope(caller.scopes, ASSIGN_SCOPE)) {
    throw tooMuch(`principal: must be the principal of the caller, or the caller needs the scope ${ASSIGN_SCOPE}.`);
  }
  requireSignIn?.(ASSIGN_SCOPE, caller);
}

/** The scope of callers that give other principals credentials. */
export const ASSIGN_SCOPE = 'keys:assign';

function tooMuch(problem: string): HostError<'forbidden'> {
  const message = `${problem} A caller gives only authority that it holds.`;
  return new HostError('forbidden', message, { details: undefined });
}

/** The limits of the caller's own key. A caller with another credential has none. */
export async function restrictionsOf(
  { store }: Pick<KeyServices, 'store'>,
  caller: Principal,
): Promise<KeyRestrictions> {
  if (caller.lane !== 'api-key') return {};
  const { tenant, mode } = caller.tenancy;
  const key = await store.apiKeys.find({ tenant, mode, workspaces: 'all' }, caller.credentialId);
  if (key?.quota === undefined) return key ?? {};
  return { ...key, quota: { ...key.quota, account: accountOf(key) } };
}

/**
 * Requires a caller that is still accepted. A request that was authenticated before its key was revoked, or its caller
 * withdrawn, must not make another key afterwards.
 *
 * @throws {AuthError} `key_revoked`
 */
export async function requireStanding(
  { store, clock, access }: Pick<KeyServices, 'store' | 'clock' | 'access'>,
  caller: Principal,
  transaction: Transaction,
): Promise<void> {
  if (access !== undefined) {
    await store.access.hold(caller.tenancy.tenant, transaction);
    await access.requireAccepted(caller, transaction);
  }
  if (caller.lane !== 'api-key') return;
  const key = await store.apiKeys.readForChange(caller.credentialId, transaction);
  if (key === undefined || apiKeyState(key, clock.now()) === 'active') return;
  const message = 'The API key has been revoked. Ask the operator of the host for another one.';
  throw new AuthError('key_revoked', message, undefined);
}

/** Requires workspaces that the tenant has. @throws {HostError} `forbidden` */
export function requireWorkspaces({ hasWorkspace }: KeyServices, { tenant, workspaces }: StoredApiKey): void {
  if (workspaces === 'all' || workspaces.every((workspace) => hasWorkspace(tenant, workspace))) return;
  // The answer for a workspace that exists and is out of reach, so that neither is revealed.
  throw tooMuch('workspaces: must be workspaces that the caller reaches.');
}
