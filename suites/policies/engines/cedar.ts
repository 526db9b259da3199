import type { Context, EntityJson, EntityUid, Expr, PolicySet } from '@cedar-policy/cedar-wasm/nodejs';
import cedar from '@cedar-policy/cedar-wasm/nodejs';
import type { Principal } from '@svc/auth';
import type { FilterCondition, PolicyEngine, PolicyResource } from '@svc/auth/policy';

/** Makes a policy engine from policies of Cedar, which decide in this process. */
export function cedarEngine(text: string): PolicyEngine {
  const policies: PolicySet = { staticPolicies: byId(text) };
  const checked = cedar.checkParsePolicySet(policies);
  if (checked.type === 'failure') throw new TypeError(`cedarEngine: ${checked.errors[0]?.message}`);

  return {
    answer: (questions) =>
      questions.map(({ principal, action, resource, context }) => {
        const answer = cedar.isAuthorized({
          principal: callerOf(principal),
          action: { type: 'Action', id: action },
          resource: { type: 'Run', id: resource.id },
          context: (context ?? {}) as Context,
          policies,
          entities: [entityOf(resource)],
        });
        if (answer.type === 'failure') throw new Error(answer.errors[0]?.message);
        const { decision, diagnostics } = answer.response;
        return { allowed: decision === 'allow', reasons: diagnostics.reason };
      }),
    filter({ principal, action }) {
      const answer = cedar.isAuthorizedPartial({
        principal: callerOf(principal),
        action: { type: 'Action', id: action },
        resource: null,
        context: {},
        policies,
        entities: [],
      });
      if (answer.type === 'failure') throw new Error(answer.errors[0]?.message);
      const { decision, residuals, nontrivialResiduals } = answer.response;
      if (decision === 'allow') return { kind: 'all' };
      if (decision === 'deny') return { kind: 'none' };
      const parts = nontrivialResiduals.map((id) => {
        const { effect, conditions } = residuals[id] ?? {};
        const body = { all: (conditions ?? []).map((clause) => clauseOf(clause.kind, clause.body)) };
        return { permits: effect === 'permit', body };
      });
      const permits = parts.filter(({ permits }) => permits).map(({ body }) => body);
      const forbids = parts.filter(({ permits }) => !permits).map(({ body }) => ({ not: body }));
      return { kind: 'where', condition: { all: [{ any: permits }, ...forbids] } };
    },
  };
}

/** Names each policy by its annotation `@id`, which is the reason of its decisions. */
function byId(text: string): Record<string, string> {
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === 'failure') throw new TypeError(`cedarEngine: ${parts.errors[0]?.message}`);
  return Object.fromEntries(
    parts.policies.map((policy, index) => [/@id\("([^"]+)"\)/.exec(policy)?.[1] ?? `policy-${index}`, policy]),
  );
}

function callerOf({ id }: Principal): EntityUid {
  return { type: 'Caller', id };
}

function entityOf({ id, workspace, attributes }: PolicyResource): EntityJson {
  const owner = { __entity: { type: 'Caller', id: String(attributes?.owner) } };
  return { uid: { type: 'Run', id }, attrs: { owner, workspace: workspace ?? '' }, parents: [] };
}

function clauseOf(kind: 'when' | 'unless', body: Expr): FilterCondition {
  return kind === 'when' ? conditionOf(body) : { not: conditionOf(body) };
}

/** An expression that is not here throws, and the decider then allows no resource. */
function conditionOf(expression: Expr): FilterCondition {
  if ('&&' in expression) return { all: both(expression['&&'] as Sides) };
  if ('||' in expression) return { any: both(expression['||'] as Sides) };
  if ('==' in expression) return equality(expression['=='] as Sides);
  if ('!' in expression) return { not: conditionOf((expression['!'] as { arg: Expr }).arg) };
  if ('Value' in expression && typeof expression.Value === 'boolean')
    return expression.Value ? { all: [] } : { any: [] };
  throw new TypeError(`cedarEngine: cannot translate ${Object.keys(expression)[0]}.`);
}

interface Sides {
  readonly left: Expr;
  readonly right: Expr;
}

function both({ left, right }: Sides): readonly FilterCondition[] {
  return [conditionOf(left), conditionOf(right)];
}

function equality({ left, right }: Sides): FilterCondition {
  if (!('.' in left) || !('Value' in right)) throw new TypeError('cedarEngine: cannot translate this comparison.');
  const { attr } = left['.'] as { attr: string };
  const value = right.Value as string | { __entity: { id: string } };
  return { field: attr, in: [typeof value === 'object' ? value.__entity.id : value] };
}
