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
  ])('%j is taken', (request) => expect(checkedRequest(request)).toBe(request));

  test.each([
    ['a kind that there is not', asked({ kind: 'riddle' })],
    ['no title', asked({ data: { ...approval, title: undefined } })],
    ['an action that there is not', asked({ data: { ...approval, actions: ['dance'] } })],
    ['approvers by group, whom nobody can tell', asked({ data: { ...approval, approverGroupRefs: ['g'] } })],
    ['approvers by role, whom nobody can tell', asked({ data: { ...approval, approverRoleRefs: ['r'] } })],
    ['an audience, whom nobody can tell', asked({ data: { ...approval, audience: { groups: ['g'] } } })],
    ['an approval by the passing of time', asked({ data: { ...approval, onTimeout: 'approve' } })],
    ['more approvals than approvers', asked({ data: { ...approval, approversList: ['p'], requiredApprovals: 2 } })],
    ['a key that is too long', asked({ key: 'k'.repeat(257) })],
    ['a node that is no id', asked({ nodeId: 'a b' })],
    ['a negative time', asked({ timeoutMs: -1 })],
    ['a schema that is none', asked({ resumeSchema: { type: 'no such type' } })],
  ])('%s is refused before anything waits for it', (_title, request) => {
    expect(() => checkedRequest(request)).toThrow(TypeError);
  });
});
