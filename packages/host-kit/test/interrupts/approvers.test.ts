import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { deadlineOf, nextTimer, presentData, requireApprover, stepsTaken } from '../../src/interrupts/approvers.ts';
import { standingLookup } from '../../src/interrupts/standing.ts';
import type { ApproverDirectory } from '../../src/ports/approvers.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { Interrupt } from '../../src/ports/interrupts.ts';
import type { LogRecord } from '../../src/ports/log.ts';

const DATA = { artifactId: 'a', artifactType: 'draft', title: 't', actions: ['accept'] };
const asked = (fields: Partial<Interrupt>): Interrupt => ({
  ...{ runId: 'run_1', interruptId: 'int_1', nodeId: 'gate', key: 'k', kind: 'approval', data: DATA },
  ...{ status: 'pending', requestedAt: 1000, votes: [] },
  ...fields,
});
const standing = (groups: string[] = [], roles: string[] = []) => ({ groups: new Set(groups), roles: new Set(roles) });

describe(covers('interrupts.approval.groups'), () => {
  const named = { approversList: ['p_1'], approverGroupRefs: ['legal'], approverRoleRefs: ['owner'] };
  test.each([
    ['any principal, when it names no approver', {}, 'p_9', standing(), true],
    ['a listed principal', named, 'p_1', standing(), true],
    ['a member of a group', named, 'p_9', standing(['legal']), true],
    ['the holder of a role', named, 'p_9', standing([], ['owner']), true],
    ['no other principal', named, 'p_9', standing(['sales'], ['reader']), false],
    ['no holder of a role with the name of a group', named, 'p_9', standing(['owner'], ['legal']), false],
  ])('an approval accepts %s', (_title, refs, id, held, isAccepted) => {
    const answer = () => requireApprover(asked({ data: { ...DATA, ...refs } }), { id }, held);
    if (isAccepted) expect(answer).not.toThrow();
    else expect(answer).toThrow('This principal is not an approver of the question.');
  });
});

describe('a lookup of groups and roles', () => {
  const principal = {
    ...({ id: 'p_1', credentialId: 'key_1', lane: 'api-key', binding: 'bearer', scopes: [] } as const),
    tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
    subject: { issuer: 'i', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' },
  } as const;
  const place = { tenant: 'acme', workspace: 'prod' };

  async function found(directory: ApproverDirectory, kind: 'user' | 'anonymous' = 'user') {
    const logged: LogRecord[] = [];
    // Every timer is due at once, so the limit of a lookup passes without a wait.
    const clock = { ...systemClock, after: (_ms: number, run: () => void) => systemClock.after(0, run) };
    const look = standingLookup(directory, { clock, log: (record) => logged.push(record) });
    const { groups, roles } = await look({ ...principal, kind }, place);
    return { groups: [...groups], roles: [...roles], events: logged.map(({ event }) => event) };
  }

  test('asks for the principal in the tenant and the workspace of the run', async () => {
    const groupsOf = (id: string, { tenant, workspace }: typeof place) => [`${id} ${tenant} ${workspace}`];
    const directory = { groupsOf, rolesOf: async () => ['owner'] } as ApproverDirectory;
    expect(await found(directory)).toEqual({ groups: ['p_1 acme prod'], roles: ['owner'], events: [] });
  });

  test.each<[string, ApproverDirectory]>([
    ['fails', { groupsOf: () => Promise.reject(new Error('down')) }],
    [
      'throws',
      {
        groupsOf: () => {
          throw new Error('down');
        },
      },
    ],
    ['never answers', { groupsOf: () => new Promise(() => {}) }],
  ])('finds nothing and is logged when the directory %s', async (_title, directory) => {
    expect(await found(directory)).toEqual({ groups: [], roles: [], events: ['approvers.lookup-failed'] });
  });

  test('finds nothing for an anonymous caller', async () => {
    expect((await found({ groupsOf: () => ['legal'] }, 'anonymous')).groups).toEqual([]);
  });
});

describe(covers('interrupts.approval.escalation'), () => {
  const escalation = [
    { afterMs: 100, approverGroupRefs: ['legal'] },
    { afterMs: 200, approversList: ['p_2', 'p_1'] },
  ];
  const question = asked({ data: { ...DATA, approversList: ['p_1'] }, timeoutMs: 300, escalation });

  test.each([
    [1000, 1100, 0],
    [1099, 1100, 0],
    [1100, 1200, 1],
    [1200, 1300, 2],
    [1250, 1300, 2],
  ])('at %s the next timer is at %s, after %s steps', (now, dueAt, steps) => {
    expect(nextTimer(question, now)).toBe(dueAt);
    expect(stepsTaken({ ...question, dueAt })).toBe(steps);
    expect(deadlineOf({ ...question, dueAt })).toBe(1300);
  });

  test('adds the approvers of its steps to those of the question', () => {
    expect(presentData({ ...question, dueAt: 1100 })).toEqual({ ...DATA, approversList: ['p_1'] });
    expect(presentData({ ...question, dueAt: 1200 })).toEqual({
      ...{ ...DATA, approversList: ['p_1'], approverGroupRefs: ['legal'] },
    });
    expect(presentData({ ...question, dueAt: 1300 })).toEqual({
      ...{ ...DATA, approversList: ['p_1', 'p_2'], approverGroupRefs: ['legal'] },
    });
  });
});
