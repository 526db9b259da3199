import type { Json, JsonObject } from '@svc/host-kit';
import { describe, expect, test } from 'vitest';
import {
  MOST_NODES,
  MOST_VARIABLES,
  MOST_VARIABLES_SIZE,
  type RunValues,
  valuesAfter,
  valuesBefore,
} from '../../src/runs/run-values.ts';
import { valuesBody } from '../../src/wire/run-values.ts';

type Happened = readonly [type: string, payload: Json, nodeId?: string];

function folded(inputs: JsonObject, ...events: readonly Happened[]): RunValues {
  return events.reduce<RunValues>(
    (values, [type, payload, nodeId], index) =>
      valuesAfter(values, { type, payload, timestamp: 1000 * (index + 1), ...(nodeId !== undefined && { nodeId }) }),
    valuesBefore({ inputs }),
  );
}

const started = (nodeId: string, payload: JsonObject = {}): Happened => ['node.started', payload, nodeId];
const completed = (nodeId: string, outputs: Json): Happened => ['node.completed', { nodeId, outputs }, nodeId];
const at = (seconds: number) => new Date(1000 * seconds).toISOString();

test('the variables are the inputs, the outputs of nodes, and the variables that the engine set', () => {
  const values = folded(
    { a: 1, b: [2] },
    completed('n', { url: 'u' }),
    ['variable.changed', { name: 'b', previous: [2], next: 3 }],
    ['variable.changed', { name: 'gone', next: 1 }],
    ['variable.changed', { name: 'gone', previous: 1 }],
    ['log.appended', { level: 'info', message: 'x' }, 'n'],
  );
  for (const major of [1, 2] as const) {
    expect(valuesBody(major, values).variables).toEqual({ a: 1, b: 3, n: { url: 'u' } });
  }
});

test('a variable with the name of an inherited member is an own member', () => {
  const values = folded(JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(JSON.stringify(valuesBody(2, values))).toBe('{"variables":{"__proto__":{"polluted":true}}}');
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

test('the variables that changed first are left out beyond the limit', () => {
  const half = 'x'.repeat(MOST_VARIABLES_SIZE / 2 - 10);
  const values = folded({ first: half, second: half }, ['variable.changed', { name: 'first', next: half }]);
  expect([...values.variables.keys()]).toEqual(['second', 'first']);
  const more = valuesAfter(values, { type: 'variable.changed', payload: { name: 'third', next: half }, timestamp: 0 });
  expect([...more.variables.keys()]).toEqual(['first', 'third']);
});

test('a value that alone is beyond the limit is left out, with its former value, and the others stay', () => {
  const half = 'x'.repeat(MOST_VARIABLES_SIZE / 2 - 10);
  const before = folded({ first: half, third: 3 });
  const huge = valuesAfter(before, {
    type: 'variable.changed',
    payload: { name: 'third', next: 'x'.repeat(MOST_VARIABLES_SIZE) },
    timestamp: 0,
  });
  expect([...huge.variables.keys()]).toEqual(['first']);
  expect([...before.variables.keys()]).toEqual(['first', 'third']);
  const inputs = { huge: 'x'.repeat(MOST_VARIABLES_SIZE), small: 1 };
  expect([...valuesBefore({ inputs }).variables.keys()]).toEqual(['small']);
  const exact = 'x'.repeat(MOST_VARIABLES_SIZE - '"".e'.length);
  expect([...valuesBefore({ inputs: { other: 1, e: `${exact}x` } }).variables.keys()]).toEqual(['e']);
});

test('the variables that changed first are left out beyond their number', () => {
  const inputs = Object.fromEntries(Array.from({ length: MOST_VARIABLES + 2 }, (_, index) => [`v-${index}`, index]));
  const values = folded(
    inputs,
    ['variable.changed', { name: 'v-2', next: 0 }],
    ['variable.changed', { name: 'w', next: 0 }],
  );
  expect(values.variables.size).toBe(MOST_VARIABLES);
  expect([...values.variables.keys()].slice(0, 1)).toEqual(['v-4']);
  expect([...values.variables.keys()].slice(-2)).toEqual(['v-2', 'w']);
});

describe('the state of a node', () => {
  test.each<[string, readonly Happened[], object]>([
    ['started', [started('n', { typeId: 't' })], { status: 'running', attempt: 0, typeId: 't', startedAt: at(1) }],
    ['retried', [started('n'), ['node.retried', { nodeId: 'n', attempt: 1 }, 'n']], { status: 'running', attempt: 1 }],
    ['suspended', [started('n'), ['node.suspended', {}, 'n']], { status: 'suspended', attempt: 0 }],
    ['resumed', [started('n'), ['node.suspended', {}, 'n'], ['node.resumed', {}, 'n']], { status: 'running' }],
    ['completed', [started('n'), completed('n', {})], { status: 'completed', startedAt: at(1), completedAt: at(2) }],
    [
      'failed',
      [started('n', { attempt: 2 }), ['node.failed', { error: { code: 'run_timeout', message: 'm' } }, 'n']],
      { status: 'failed', attempt: 2, errorCode: 'run_timeout' },
    ],
    ['skipped', [['node.skipped', {}, 'n']], { status: 'skipped', attempt: 0, completedAt: at(1) }],
    ['open at the end of its run', [started('n'), ['run.failed', {}]], { status: 'cancelled', completedAt: at(2) }],
    [
      'completed before the end',
      [completed('n', 1), ['run.completed', {}]],
      { status: 'completed', completedAt: at(1) },
    ],
  ])('that %s', (_, events, state) => {
    const values = folded({}, ...events);
    expect(valuesBody(1, values).nodeStates).toEqual({ n: expect.objectContaining(state) });
    expect(valuesBody(2, values)).not.toHaveProperty('nodeStates');
  });

  test('is left out for the nodes that changed first, beyond the limit', () => {
    const nodes = Array.from({ length: MOST_NODES + 2 }, (_, index) => started(`n-${index}`));
    const { nodes: states } = folded({}, ...nodes.slice(0, MOST_NODES), started('n-0'), ...nodes.slice(MOST_NODES));
    expect(states.size).toBe(MOST_NODES);
    expect([...states.keys()].slice(0, 1)).toEqual(['n-3']);
    expect(states.has('n-0')).toBe(true);
  });
});

test('the metrics are the sum of what providers reported, and absent before', () => {
  expect(valuesBody(2, folded({}, started('n')))).not.toHaveProperty('metrics');
  const report = { provider: 'p', model: 'm', inputTokens: 10, outputTokens: 2, costEstimateUsd: 0.5, durationMs: 7 };
  const values = folded(
    {},
    ['provider.usage', report],
    ['provider.usage', { ...report, model: 'other', inputTokens: -5, costEstimateUsd: 'free' }],
    ['provider.usage', null],
  );
  for (const major of [1, 2] as const) {
    expect(valuesBody(major, values).metrics).toEqual({
      svcCost: { usd: 0.5, tokens: { input: 10, output: 4 }, model: 'other', provider: 'p', duration_ms: 14 },
    });
  }
});
