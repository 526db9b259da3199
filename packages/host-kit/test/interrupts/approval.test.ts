import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quorumOf, withVote } from '../../src/interrupts/approval.ts';
import { approvalData } from '../../src/interrupts/request.ts';
import type { Vote } from '../../src/ports/interrupts.ts';

const votes = (accepts: number, rejects: number): Vote[] => [
  ...Array.from({ length: accepts }, (_, index) => ({ principal: `a${index}`, action: 'accept' as const })),
  ...Array.from({ length: rejects }, (_, index) => ({ principal: `r${index}`, action: 'reject' as const })),
];

const dataOf = (fields: object) =>
  approvalData({ artifactId: 'a', artifactType: 'draft', title: 't', actions: ['accept', 'reject'], ...fields });

const FIVE = ['1', '2', '3', '4', '5'];

describe(covers('interrupts.approval.quorum'), () => {
  test.each<[fields: object, accepts: number, rejects: number, decision: string]>([
    [{}, 0, 0, 'open'],
    [{}, 1, 0, 'granted'],
    [{}, 0, 1, 'rejected'],
    [{ requiredApprovals: 2 }, 1, 0, 'open'],
    [{ requiredApprovals: 2 }, 2, 0, 'granted'],
    [{ requiredApprovals: 2 }, 1, 1, 'rejected'],
    [{ requiredApprovals: 1, rejectionPolicy: 'majority' }, 0, 1, 'rejected'],
    [{ requiredApprovals: 3, rejectionPolicy: 'majority' }, 2, 1, 'open'],
    [{ requiredApprovals: 3, approversList: FIVE, rejectionPolicy: 'majority' }, 3, 1, 'granted'],
    [{ requiredApprovals: 3, approversList: FIVE, rejectionPolicy: 'majority' }, 2, 2, 'rejected'],
    [{ requiredApprovals: 2, rejectionPolicy: 'majority' }, 1, 1, 'open'],
    [{ requiredApprovals: 2, rejectionPolicy: 'majority' }, 1, 2, 'rejected'],
  ])('%j, %s for and %s against: %s', (fields, accepts, rejects, decision) => {
    expect(quorumOf(dataOf(fields), votes(accepts, rejects)).decision).toBe(decision);
  });

  test('counts the last vote of each principal, and rejects by one rejection or by more than half of the quorum', () => {
    const vote = fc.record({
      principal: fc.constantFrom(...FIVE),
      action: fc.constantFrom('accept' as const, 'reject' as const),
    });
    const asked = fc.record({
      requiredApprovals: fc.integer({ min: 1, max: 5 }),
      rejectionPolicy: fc.constantFrom('single-veto' as const, 'majority' as const),
    });
    fc.assert(
      fc.property(asked, fc.array(vote, { maxLength: 20 }), ({ requiredApprovals, rejectionPolicy }, given) => {
        const data = dataOf({ requiredApprovals, rejectionPolicy, approversList: FIVE });
        const last = new Map(given.map(({ principal, action }) => [principal, action]));
        const counted = given.reduce<readonly Vote[]>(withVote, []);
        const { approvals, rejections, decision } = quorumOf(data, counted);
        expect(approvals).toBe([...last.values()].filter((action) => action === 'accept').length);
        expect(approvals + rejections).toBe(last.size);
        if (decision === 'granted') expect(approvals).toBeGreaterThanOrEqual(requiredApprovals);
        const isVetoed = rejectionPolicy === 'single-veto' ? rejections > 0 : 2 * rejections > requiredApprovals;
        expect(decision === 'rejected').toBe(isVetoed);
      }),
    );
  });
});
