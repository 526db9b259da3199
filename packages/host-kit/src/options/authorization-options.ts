import type { RoleAuthorizer } from '@svc/auth';
import type { SignInRule } from '../http/sign-in-rules.ts';
import type { ApproverDirectory } from '../ports/approvers.ts';

/**
 * Rules that decide beside the scopes of a credential. Each member may be left out.
 *
 * @example
 * const authorization: AuthorizationOptions = {
 *   hasWorkspace: (tenant, workspace) => tenant === 'acme' && workspace === 'main',
 *   ownScopes: ['orders:read'],
 * };
 */
export interface AuthorizationOptions {
  /**
   * Whether the host has one tenant. Its runs, their `run.started` and deliveries of major 2 then name no owner.
   * Records and ids of major 2 stay bound to the tenant of their credential. Default: false.
   *
   * @see Interface: Run owner (identity triple)
   */
  readonly singleTenant?: boolean;
  /**
   * Returns whether a tenant has a workspace of that name. Requests for another workspace are refused. Any answer but `true`
   * is no; one that is no boolean, such as a promise, is logged as `workspace.misjudged`. Default: every workspace that the
   * credential of the caller reaches. Pass one when the tokens of an issuer name workspaces: without it, a name that was never
   * given to a workspace is one.
   */
  readonly hasWorkspace?: (tenant: string, workspace: string) => boolean;
  /**
   * Scopes of routes of your own, which keys of this host may have beside those of the host. Otherwise the log has
   * `key.unknown-scope` at the start for such a scope of a configured key. Default: none.
   */
  readonly ownScopes?: readonly string[];
  /** Requires a role in the workspace beside the scope of the credential. Default: scopes decide alone. */
  readonly roles?: RoleAuthorizer;
  /**
   * Operations and scopes that need a strong or a recent sign-in. A caller without it gets 401 with the challenge of RFC
   * 9470; one whose credential tells of no sign-in, such as an API key, always does. Default: none.
   */
  readonly stepUp?: readonly SignInRule[];
  /** Resolves the groups and roles that approvals name. Default: approvals can name principals alone. */
  readonly approvers?: ApproverDirectory;
}
