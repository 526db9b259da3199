import type { Decision } from './authorize.ts';
import type { AuthErrorCode } from './errors.ts';
import { isOpaqueId } from './opaque-id.ts';
import type { Principal } from './principal.ts';

/**
 * The fact that a decision was made: the payload of `authorization.decided`. It holds ids and closed words, and nothing of a
 * credential, a claim or a request's content.
 *
 * @see Interface: Role-based authorization, item 3; Workload identity, Delegation rules, item 7
 */
export interface AuthorizationDecided {
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly allowed: boolean;
  readonly reason: DecisionReason;
}

/** Closed: a scope covered the action, or the code of the refusal. */
export type DecisionReason = 'scope_granted' | AuthErrorCode;

/**
 * Records a decision as a fact for the event log and the audit log.
 *
 * @param asked `action` is the operation's name; `resource` is the id or tenant-bound id of what it acts on. An id that is not
 * opaque is recorded as `withheld`, as it may come from the caller and hold anything.
 * @example
 * authorizationDecided(principal, { action: 'runs.read', resource: 'acme/run_9f…' }, decision);
 */
export function authorizationDecided(
  principal: Pick<Principal, 'id'>,
  asked: { readonly action: string; readonly resource: string },
  decision: Decision,
): AuthorizationDecided {
  return {
    principal: contentFree(principal.id),
    action: contentFree(asked.action),
    resource: contentFree(asked.resource),
    allowed: decision.allowed,
    reason: decision.allowed ? 'scope_granted' : decision.error.code,
  };
}

/** Each part of a tenant-bound id, `<tenant>/<id>`, is an opaque id of its own. */
function contentFree(id: string): string {
  const parts = id.split('/', 3);
  return parts.length <= 2 && parts.every(isOpaqueId) ? id : 'withheld';
}
