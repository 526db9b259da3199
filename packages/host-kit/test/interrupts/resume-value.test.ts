import { describe, expect, test } from 'vitest';
import { approvalData } from '../../src/interrupts/request.ts';
import { checkedApproval } from '../../src/interrupts/resume-value.ts';
import type { Json } from '../../src/json.ts';

const decided = { by: 'p_1', at: 0 };
const data = approvalData({ artifactId: 'a', artifactType: 'draft', title: 't', actions: ['accept', 'reject'] });

/** Answers an approval that offers to accept and to reject. */
const answered = (resumeValue: Json) => checkedApproval({}, data, resumeValue, decided);

describe('an answer to an approval', () => {
  test('is completed with its author and time', () => {
    expect(answered({ action: 'accept' })).toEqual({
      ...{ action: 'accept', decidedBy: 'p_1', decidedAt: '1970-01-01T00:00:00.000Z' },
    });
  });

  test.each<[string, Json]>([
    ['an action of another approval', { action: 'refine', refineFeedback: { scope: 'whole' } }],
    ['an action of no approval', { action: 'approve' }],
    ['an action that is no text', { action: 1 }],
    ['an action in the words of older clients', { action: 'edit', editedArtifactData: {} }],
  ])('with %s is told the actions that this approval offers, and no other', (_, resumeValue) => {
    expect(() => answered(resumeValue)).toThrow('resumeValue.action: is not offered; choose one of accept, reject.');
  });

  test('without an action is told an example', () => {
    expect(() => answered({})).toThrow(/resumeValue\.action: is required\..*\{"action":"accept"\}/);
  });
});
