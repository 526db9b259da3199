import type { Decision } from './authorize.ts';
import type { AuthErrorCode } from './errors.ts';
import { isOpaqueId } from './opaque-id.ts';
import type { Principal } from './principal.ts';

/**
 * The payload of `authorization.decided`: the record of one decision. It contains ids and closed words only, and no
 * part of a credential, a claim or the content of a request.
 *
 * @see Interface: Role-based authorization, item 3; Workload identity, Delegation rules, item 7
 */
export interface AuthorizationDecided {
  /** The principal whose authority counted. */
  readonly principal: string;
  /** The name of the operation, e.g. `runs.read`. */
  readonly action: string;
  /** The opaque or tenant-bound id of the resource; `withheld` when the given id is neither. */
  readonly resource: string;
  /** Whether the operation was allowed. */
  readonly allowed: boolean;
  /**
   * A `DecisionReason`. For a workload, `actor=`, `depth=`, `issuer=`, `audience=` and `binding=` follow, separated by
   * spaces.
   */
  readonly reason: string;
}

/** The closed set of reasons: the grant that covered the action, or the code of the refusal. */
export type DecisionReason = 'scope_granted' | 'role_granted' | AuthErrorCode;

/**
 * Makes the record of a decision for the event log and the audit log.
 *
 * @param asked `action` is the name of the operation; `resource` is the id or tenant-bound id of the resource. An id
 * that is not opaque is recorded as `withheld`: it may come from the caller and contain anything.
 * @example
 * authorizationDecided(principal, { action: 'runs.read', resource: 'acme/run_9f…' }, decision);
 */
export function authorizationDecided(
  principal: Pick<Principal, 'id' | 'binding' | 'workload'>,
  asked: {
    /** The name of the operation. */
    readonly action: string;
    /** The id or tenant-bound id of the resource. */
    readonly resource: string;
  },
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

/** Matches one word. It excludes URLs. */
const ISSUER_CLASS = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Returns an id, or `withheld`. Each part of a tenant-bound id, `<tenant>/<id>`, must be an opaque id. */
function contentFree(id: string): string {
  const parts = id.split('/', 3);
  return parts.length <= 2 && parts.every(isOpaqueId) ? id : 'withheld';
}
