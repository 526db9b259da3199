import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { engineGate } from './engine-events.ts';

const gate = engineGate({});

class WithGetters {
  get nodeId() {
    return 'n';
  }
  get typeId() {
    return 'acme.n';
  }
}

/** Values that an engine in JavaScript may pass. */
const untyped = (value: unknown): Json => value as Json;
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

describe('an event of an engine', () => {
  test('is held with the payload that JSON has', () => {
    const payload = untyped({ at: new Date(0), nothing: undefined, list: [undefined] });
    expect(gate({ type: 'acme.sent', payload })).toEqual({
      type: 'acme.sent',
      payload: { at: '1970-01-01T00:00:00.000Z', list: [null] },
    });
  });

  test('does not follow its payload when that is changed later', () => {
    const payload = { nodeId: 'n', typeId: 'acme.n' };
    const taken = gate({ type: 'node.started', payload });
    payload.nodeId = 'changed';
    expect(taken.payload).toEqual({ nodeId: 'n', typeId: 'acme.n' });
  });

  test.each<readonly [string, string, unknown]>([
    ['a required member is inherited', 'node.started', Object.create({ nodeId: 'n', typeId: 'acme.n' })],
    ['a required member is a getter of a class', 'node.started', new WithGetters()],
    ['a required member is a function', 'output.chunk', { nodeId: 'n', chunk: () => 'text' }],
    ['the payload of a vendor is a function', 'acme.sent', () => 'text'],
    ['a member is a BigInt', 'output.chunk', { nodeId: 'n', chunk: 1n }],
    ['the payload refers to itself', 'acme.sent', cycle],
  ])('is rejected when %s', (_, type, payload) => {
    expect(() => gate({ type, payload: untyped(payload) })).toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(/^[a-z.]+: payload/) }),
    );
  });

  test.each(['', 'a\0b', 'a b', 'n'.repeat(129)])('is rejected when its node id is %j', (nodeId) => {
    expect(() => gate({ type: 'acme.sent', payload: {}, nodeId })).toThrow(/^acme.sent: nodeId must be/);
  });
});
