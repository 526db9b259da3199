import { authorize } from '../authorize.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import type { RoleAuthorizer, RoleDecision } from '../roles.ts';
import { reachesWorkspace } from '../tenancy.ts';
import type { PolicyAnswer, PolicyEngine } from './port.ts';

/** Options of {@link rolePolicy}. */
export interface RolePolicyOptions {
  /** The roles, as `roleAuthorizer` makes them. */
  readonly roles: RoleAuthorizer;
  /** The scope that each action needs, by the name of the action. Other actions are refused. */
  readonly scopes: Readonly<Record<string, string>>;
}

const ROLE_POLICY_OPTIONS: OptionNames<RolePolicyOptions> = { roles: true, scopes: true };

/**
 * Makes a policy engine from roles: the credential must hold the scope of the action, and a role of the principal must
 * have it in the workspace of the resource.
 *
 * @throws {TypeError} when an option is unknown
 * @example
 * const roles = roleAuthorizer({ catalog: [{ role: 'operator', scopes: ['runs:*'] }], directory });
 * const policies = policyDecider({ engine: rolePolicy({ roles, scopes: { 'runs.cancel': 'runs:cancel' } }) });
 */
export function rolePolicy(options: RolePolicyOptions): PolicyEngine {
  requireKnown('rolePolicy', options, ROLE_POLICY_OPTIONS);
  const { roles } = options;
  const scopes = new Map(Object.entries(options.scopes));

  return {
    async answer(questions) {
      // One look-up for each caller and action of a batch.
      const known = new Map<Principal, Map<string, Promise<RoleDecision | PolicyAnswer>>>();
      return Promise.all(
        questions.map(async ({ principal, action, resource }): Promise<PolicyAnswer> => {
          const ofCaller = known.get(principal) ?? new Map<string, Promise<RoleDecision | PolicyAnswer>>();
          known.set(principal, ofCaller);
          const pending = ofCaller.get(action) ?? decided(principal, action);
          ofCaller.set(action, pending);
          const decision = await pending;
          if ('reasons' in decision) return decision;
          if (!decision.allowed) return { allowed: false, reasons: ['no-role'] };
          return reachesWorkspace(decision.tenancy, resource.workspace)
            ? { allowed: true, reasons: [decision.by] }
            : { allowed: false, reasons: ['no-role-in-workspace'] };
        }),
      );
    },
    async filter({ principal, action }) {
      const decision = await decided(principal, action);
      if ('reasons' in decision || !decision.allowed) return { kind: 'none' };
      const { workspaces } = decision.tenancy;
      return workspaces === 'all'
        ? { kind: 'all' }
        : { kind: 'where', condition: { field: 'workspace', in: workspaces } };
    },
  };

  async function decided(principal: Principal, action: string): Promise<RoleDecision | PolicyAnswer> {
    const scope = scopes.get(action);
    if (scope === undefined) return { allowed: false, reasons: ['unknown-action'] };
    const byScope = authorize(principal, scope);
    return byScope.allowed ? roles.authorize(principal, scope) : { allowed: false, reasons: ['no-scope'] };
  }
}
