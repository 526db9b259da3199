import { describe, expect, test } from 'vitest';
import { checkedRequest } from '../../src/interrupts/request.ts';
import type { InterruptRequest } from '../../src/ports/interrupts.ts';

const approval = { artifactId: 'a', artifactType: 'draft', title: 't', actions: ['accept'] };
const asked = (fields: Partial<Record<keyof InterruptRequest, unknown>>): InterruptRequest =>
  ({ nodeId: 'gate', key: 'k', kind: 'approval', data: approval, ...fields }) as InterruptRequest;

const STEP = { afterMs: 5, approversList: ['p_2'] };
const escalated = (escalation: readonly object[], timeoutMs = 10) =>
  asked({ data: { ...approval, approversList: ['p_1'], onTimeout: 'escalate' }, timeoutMs, escalation });

describe('a question', () => {
  test.each([
    asked({}),
    asked({ data: { ...approval, approversList: ['p_1', 'p_2'], requiredApprovals: 2, onTimeout: 'reject' } }),
    asked({ resumeSchema: { type: 'object', required: ['x'] }, timeoutMs: 0 }),
    asked({ kind: 'clarification', data: { questions: [{ id: 'q', question: 'which?' }] } }),
    asked({ kind: 'external-event', data: { eventType: 'paid', correlation: { order: 1 } } }),
    asked({ data: { ...approval, audience: { groups: ['g'] }, overrideBypassesQuorum: true } }),
    escalated([STEP, { afterMs: 6, approversList: ['p_3'] }]),
    asked({ kind: 'custom', data: { customKind: 'mine' } }),
  ])('accepts %j', (request) => expect(checkedRequest(request)).toEqual(request));

  test('of an approval needs a title alone', () => {
    const { data, ...rest } = checkedRequest(asked({ data: { title: 'Publish?' } }));
    expect(data).toEqual({
      title: 'Publish?',
      artifactId: 'gate',
      artifactType: 'question',
      actions: ['accept', 'reject'],
    });
    expect(rest).toEqual({ nodeId: 'gate', key: 'k', kind: 'approval' });
  });

  test.each([
    [asked({ data: {} }), 'interrupt: data of approval.title: is required.'],
    [
      asked({ data: { titel: 'Publish?' } }),
      'interrupt: data of approval.title: is required. data of approval: has no field "titel". Did you mean title?',
    ],
    [asked({ kind: 'riddle' }), /^interrupt: question\.kind: must be "approval" or /],
    [asked({ kind: 'custom', data: {} }), 'interrupt: data of custom.customKind: is required.'],
  ])('that is refused says what it lacks: %#', (request, message) => {
    expect(() => checkedRequest(request)).toThrow(message);
  });

  test.each([
    ['an unknown kind', asked({ kind: 'riddle' })],
    ['no title', asked({ data: { ...approval, title: undefined } })],
    ['an unknown action', asked({ data: { ...approval, actions: ['dance'] } })],
    ['groups on a host without a directory', asked({ data: { ...approval, approverGroupRefs: ['g'] } })],
    ['roles on a host without a directory', asked({ data: { ...approval, approverRoleRefs: ['r'] } })],
    ['groups of a step on a host without a directory', escalated([{ afterMs: 5, approverGroupRefs: ['g'] }])],
    ['an escalation without its policy', asked({ ...escalated([STEP]), data: { ...approval, approversList: ['p'] } })],
    ['the policy without an escalation', asked({ data: { ...approval, onTimeout: 'escalate' } })],
    ['an escalation without a timeout', asked({ ...escalated([STEP]), timeoutMs: 0 })],
    ['a step at the timeout', escalated([{ ...STEP, afterMs: 10 }])],
    ['two steps at one time', escalated([STEP, STEP])],
    ['a step without approvers', escalated([{ afterMs: 5 }])],
    [
      'more than ten steps',
      escalated(
        Array.from({ length: 11 }, (_, index) => ({ ...STEP, afterMs: index + 1 })),
        100,
      ),
    ],
    [
      'an escalation of an approval without a list of approvers',
      asked({ ...escalated([STEP]), data: { ...approval, onTimeout: 'escalate' } }),
    ],
    [
      'an escalation of a clarification',
      asked({ kind: 'clarification', data: { questions: [{ id: 'q', question: 'which?' }] }, escalation: [STEP] }),
    ],
    [
      'two questions of one id',
      asked({
        kind: 'clarification',
        data: {
          questions: [
            { id: 'q', question: 'a?' },
            { id: 'q', question: 'b?' },
          ],
        },
      }),
    ],
    [
      'a question with an invalid JSON Schema',
      asked({
        kind: 'clarification',
        data: { questions: [{ id: 'q', question: 'a?', schema: { type: 'no such type' } }] },
      }),
    ],
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
