import type { Principal } from '@svc/auth';
import type { FilterCondition, FilterValue, PolicyEngine, PolicyResource } from '@svc/auth/policy';

/** The most resources that Cerbos takes at once, unless it is configured otherwise. */
const BATCH = 50;

/** Makes a policy engine from a Cerbos policy decision point. */
export function cerbosEngine(url: string): PolicyEngine {
  return {
    async answer(questions) {
      const answers = [];
      // Cerbos decides for one principal at a time: here, as a host asks, all questions of a batch have the same caller.
      for (let start = 0; start < questions.length; start += BATCH) {
        const part = questions.slice(start, start + BATCH);
        const [first] = part;
        if (first === undefined || part.some(({ principal }) => principal !== first.principal))
          throw new TypeError('cerbosEngine: a batch must have one caller. Ask once for each.');
        const { results } = await post(`${url}/api/check/resources`, {
          principal: principalOf(first.principal),
          resources: part.map(({ action, resource }) => ({ actions: [action], resource: resourceOf(resource) })),
          includeMeta: true,
        });
        for (const [index, { action }] of part.entries()) {
          const { actions, meta } = results[index];
          const policy = meta?.actions?.[action]?.matchedPolicy;
          answers.push({ allowed: actions[action] === 'EFFECT_ALLOW', reasons: policy === undefined ? [] : [policy] });
        }
      }
      return answers;
    },
    async filter({ principal, action, kind }) {
      const { filter } = await post(`${url}/api/plan/resources`, {
        action,
        principal: principalOf(principal),
        resource: { kind },
      });
      if (filter.kind === 'KIND_ALWAYS_ALLOWED') return { kind: 'all' };
      if (filter.kind !== 'KIND_CONDITIONAL') return { kind: 'none' };
      return { kind: 'where', condition: conditionOf(filter.condition) };
    },
  };
}

function principalOf({ id, scopes }: Principal) {
  return { id, roles: ['caller'], attr: { scopes } };
}

function resourceOf({ kind, id, workspace, attributes }: PolicyResource) {
  return { kind, id, attr: { ...attributes, workspace } };
}

interface Operand {
  readonly expression?: { readonly operator: string; readonly operands: readonly Operand[] };
  readonly variable?: string;
  readonly value?: FilterValue | readonly FilterValue[];
}

/** An operator that is not here throws, and the decider then allows no resource. */
function conditionOf({ expression }: Operand): FilterCondition {
  const { operator = 'none', operands = [] } = expression ?? {};
  if (operator === 'and') return { all: operands.map(conditionOf) };
  if (operator === 'or') return { any: operands.map(conditionOf) };
  if (operator === 'not' && operands[0] !== undefined) return { not: conditionOf(operands[0]) };
  const field = operands.find(({ variable }) => variable !== undefined)?.variable;
  const value = operands.find((operand) => operand.value !== undefined)?.value;
  const [, name] = /^request\.resource\.(?:attr\.)?(\w+)$/.exec(field ?? '') ?? [];
  if (name === undefined || value === undefined) throw new TypeError(`cerbosEngine: cannot translate ${operator}.`);
  if (operator === 'eq' && !Array.isArray(value)) return { field: name, in: [value as FilterValue] };
  if (operator === 'ne' && !Array.isArray(value)) return { not: { field: name, in: [value as FilterValue] } };
  if (operator === 'in' && Array.isArray(value)) return { field: name, in: value };
  throw new TypeError(`cerbosEngine: cannot translate ${operator}.`);
}

async function post(url: string, body: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requestId: crypto.randomUUID(), ...body }),
    signal: AbortSignal.timeout(5000),
  });
  if (!response.ok) throw new Error(`Cerbos answered ${response.status}.`);
  return response.json();
}
