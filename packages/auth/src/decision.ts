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
  /** Whose authority counted. */
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly allowed: boolean;
  /** A `DecisionReason`; of a workload followed by `actor=`, `depth=`, `issuer=`, `audience=` and `binding=`, with spaces between. */
  readonly reason: string;
}

/** Closed: what covered the action, or the code of the refusal. */
export type DecisionReason = 'scope_granted' | 'role_granted' | AuthErrorCode;

/**
 * Records a decision as a fact for the event log and the audit log.
 *
 * @param asked `action` is the operation's name; `resource` is the id or tenant-bound id of what it acts on. An id that is not
 * opaque is recorded as `withheld`, as it may come from the caller and hold anything.
 * @example
 * authorizationDecided(principal, { action: 'runs.read', resource: 'acme/run_9f…' }, decision);
 */
export function authorizationDecided(
  principal: Pick<Principal, 'id' | 'binding' | 'workload'>,
  asked: { readonly action: string; readonly resource: string },
  decision: Decision,
): AuthorizationDecided {
  const reason: DecisionReason = decision.allowed ? (decision.by ?? 'scope_granted') : decision.error.code;
  return {
    principal: contentFree(principal.id),
    action: contentFree(asked.action),
    resource: contentFree(asked.resource),
    allowed: decision.allowed,
    reason: [reason, ...workloadFacts(principal)].join(' '),
  };
}

function workloadFacts({ workload, binding }: Pick<Principal, 'binding' | 'workload'>): readonly string[] {
  if (workload === undefined) return [];
  const { actor, depth, issuerClass, audience } = workload;
  const issuer = ISSUER_CLASS.test(issuerClass) ? issuerClass : 'withheld';
  return [
    `actor=${contentFree(actor.principalId)}`,
    `depth=${depth}`,
    `issuer=${issuer}`,
    `audience=${audience}`,
    `binding=${binding}`,
  ];
}

/** A word, never a URL. */
const ISSUER_CLASS = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Each part of a tenant-bound id, `<tenant>/<id>`, is an opaque id of its own. */
function contentFree(id: string): string {
  const parts = id.split('/', 3);
  return parts.length <= 2 && parts.every(isOpaqueId) ? id : 'withheld';
}
