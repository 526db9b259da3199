import { grants, isGrantableScope, type Principal, type StepUp } from '@svc/auth';
import { requireKnown } from '../known-options.ts';

/** A rule on the sign-in of the callers of some operations. It names operations, scopes, or both. */
export interface SignInRule {
  /**
   * The operations, by their `operationId` in an API description of the host: of the protocol, and of its mounts. Default:
   * none.
   */
  readonly operations?: readonly string[];
  /**
   * Every use of these scopes, through whichever operation or mount. A segment may be `*`. Default: none.
   */
  readonly scopes?: readonly string[];
  /** The required sign-in: `stepUp` of `@svc/auth`. */
  readonly stepUp: StepUp;
}

/** The rules of a host. */
export interface SignInRules {
  /** Requires the sign-in that an operation needs. @throws {AuthError} `unauthenticated` with the challenge of RFC 9470 */
  requireFor(operationId: string | undefined, principal: Principal): void;
  /** Requires the sign-in that the use of a scope needs. @throws {AuthError} `unauthenticated` */
  requireForScope(scope: string, principal: Principal): void;
}

const RULE = { operations: true, scopes: true, stepUp: true } as const;

/**
 * @param known the operations that a caller with a credential can ask for
 * @throws {TypeError} for a rule that names no operation and no scope, or one that is not there: nothing would guard it
 */
export function signInRules(rules: readonly SignInRule[], known: ReadonlySet<string>): SignInRules {
  const byOperation = new Map<string, StepUp[]>();
  for (const [index, rule] of rules.entries()) {
    const path = `authorization.stepUp[${index}]`;
    requireKnown(`createHost: ${path}`, rule, RULE);
    const { operations = [], scopes = [], stepUp } = rule;
    if (typeof stepUp?.judge !== 'function') throw fault(path, 'stepUp must be made by stepUp of @svc/auth');
    if (operations.length + scopes.length === 0) throw fault(path, 'must name operations or scopes');
    for (const scope of scopes) {
      if (!isGrantableScope(scope)) throw fault(path, `scopes has ${scope}. Use a scope such as keys:manage or keys:*`);
    }
    for (const operation of operations) {
      if (!known.has(operation)) {
        const remedy = 'Use an operationId of its API description';
        throw fault(path, `operations has ${operation}, which no credential asks this host for. ${remedy}`);
      }
      byOperation.set(operation, [...(byOperation.get(operation) ?? []), stepUp]);
    }
  }
  return {
    requireFor(operationId, principal) {
      for (const rule of byOperation.get(operationId ?? '') ?? []) requireSignIn(rule, principal);
    },
    requireForScope: (scope, principal) => requireSignInForScope(rules, scope, principal),
  };
}

/** Requires the sign-in that the use of a scope needs by some rules. @throws {AuthError} `unauthenticated` */
export function requireSignInForScope(rules: readonly SignInRule[], scope: string, principal: Principal): void {
  for (const { scopes = [], stepUp } of rules) if (grants(scopes, scope)) requireSignIn(stepUp, principal);
}

function requireSignIn(rule: StepUp, principal: Principal): void {
  const decision = rule.judge(principal);
  if (!decision.allowed) throw decision.error;
}

function fault(path: string, problem: string): TypeError {
  return new TypeError(`createHost: ${path}: ${problem}.`);
}
