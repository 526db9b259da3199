import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import type { ForkMode, Run } from '../../src/ports/runs.ts';
import { coversScope } from '../../src/ports/subscriptions.ts';
import { matches } from '../../src/webhooks/match.ts';
import { sampleSubscription } from './samples.ts';

const run: Run = {
  runId: 'run_1',
  tenant: 'acme',
  workspace: 'w1',
  mode: 'live',
  workflowId: 'echo',
  status: 'running',
  owner: { tenant: 'acme' },
  inputs: {},
  tags: ['a', 'b'],
  engineVersion: 1,
  eventLogSchemaVersion: 3,
  lastSequence: 0,
  createdAt: 0,
};
const { workspace: _, ...ofTheTenant } = run;
const fork = (mode: ForkMode): Run => ({ ...run, fork: { sourceRunId: 'run_0', fromSeq: 1, mode } });
const push = (runId: string) => ({ runId, name: 'main', format: 'a2a' });

describe(
  covers(
    'webhooks.delivery.tenant-scope',
    'webhooks.delivery.workspace-scope',
    'webhooks.registration.tag-overlap',
    'webhooks.registration.no-tags-all-runs',
    'auth.tenancy.test-live-apart',
  ),
  () => {
    test.each([
      ['its tenant', {}, run, true],
      ['another tenant', { tenant: 'other' }, run, false],
      ['the other mode', { mode: 'test' }, run, false],
      ['its workspace', { workspaces: ['w1'] }, run, true],
      ['another workspace', { workspaces: ['w2'] }, run, false],
      ['a run of the whole tenant, from one workspace', { workspaces: ['w1'] }, ofTheTenant, false],
      ['a run of the whole tenant, from the tenant', {}, ofTheTenant, true],
      ['a tag in common', { tags: ['b', 'c'] }, run, true],
      ['no tag in common', { tags: ['c'] }, run, false],
      ['a failed best-effort subscription', { durable: false, status: 'failed' }, run, false],
      ['a failed durable subscription, for its dead letters', { status: 'failed' }, run, true],
      ['an active best-effort subscription', { durable: false }, run, true],
      ['a replay, which repeats its events', {}, fork('replay'), false],
      ['a branch', {}, fork('branch'), true],
      ['a push subscription to the run', { push: push('run_1') }, run, true],
      ['a push subscription to another run', { push: push('run_2') }, run, false],
    ] as const)('matches by %s', (_title, fields, of, expected) =>
      expect(matches(sampleSubscription(fields), of)).toBe(expected),
    );
  },
);

test.each([
  ['all', 'all', true],
  ['all', ['w1'], true],
  [['w1'], 'all', false],
  [['w1', 'w2'], ['w1'], true],
  [['w1'], ['w1', 'w2'], false],
] as const)('a caller of %j manages a subscription to %j: %s', (reach, scope, expected) => {
  expect(coversScope({ workspaces: reach }, { workspaces: scope })).toBe(expected);
});
