import { describe, expect, test } from 'vitest';
import { checkedRequest } from '../../src/interrupts/request.ts';
import type { InterruptRequest } from '../../src/ports/interrupts.ts';

const approval = { artifactId: 'a', artifactType: 'draft', title: 't', actions: ['accept'] };
const asked = (fields: Partial<Record<keyof InterruptRequest, unknown>>): InterruptRequest =>
  ({ nodeId: 'gate', key: 'k', kind: 'approval', data: approval, ...fields }) as InterruptRequest;

describe('a question', () => {
  test.each([
    asked({}),
    asked({ data: { ...approval, approversList: ['p_1', 'p_2'], requiredApprovals: 2, onTimeout: 'reject' } }),
    asked({ resumeSchema: { type: 'object', required: ['x'] }, timeoutMs: 0 }),
    asked({ kind: 'clarification', data: { questions: [{ id: 'q', question: 'which?' }] } }),
    asked({ kind: 'external-event', data: { eventType: 'paid', correlation: { order: 1 } } }),
    asked({ kind: 'custom', data: { customKind: 'mine' } }),
  ])('accepts %j', (request) => expect(checkedRequest(request)).toBe(request));

  test.each([
    ['an unknown kind', asked({ kind: 'riddle' })],
    ['no title', asked({ data: { ...approval, title: undefined } })],
    ['an unknown action', asked({ data: { ...approval, actions: ['dance'] } })],
    ['approvers by group, which the kit cannot enforce', asked({ data: { ...approval, approverGroupRefs: ['g'] } })],
    ['approvers by role, which the kit cannot enforce', asked({ data: { ...approval, approverRoleRefs: ['r'] } })],
    ['an audience, which the kit cannot enforce', asked({ data: { ...approval, audience: { groups: ['g'] } } })],
    ['an approval by timeout', asked({ data: { ...approval, onTimeout: 'approve' } })],
    ['more approvals than approvers', asked({ data: { ...approval, approversList: ['p'], requiredApprovals: 2 } })],
    ['a key that is too long', asked({ key: 'k'.repeat(257) })],
    ['a malformed node id', asked({ nodeId: 'a b' })],
    ['a negative timeout', asked({ timeoutMs: -1 })],
    ['an invalid JSON Schema', asked({ resumeSchema: { type: 'no such type' } })],
  ])('rejects %s', (_title, request) => {
    expect(() => checkedRequest(request)).toThrow(TypeError);
  });
});
