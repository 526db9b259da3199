import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import type { AuditAction } from '../../src/audit/fact.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { type Asked, type MortalHosts, mortalHosts } from './mortal-host.ts';

interface Operation {
  readonly name: string;
  readonly major: 1 | 2;
  /** The audit action of one effect, and the number of effects. */
  readonly action: AuditAction;
  readonly effects?: number;
  readonly status: number;
  /** A part of every reply. */
  readonly says?: object;
  /** Prepares a host for the operation, and returns its request. */
  readonly prepare: (host: MortalHosts) => Promise<Asked>;
}

const HOOK = { url: 'https://example.com/hook', events: ['run.started'] };
const HOOK_V1 = { ...HOOK, tenantId: 'prod' };
const secret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const STANDARD = { ...HOOK, secret: secret(1), signatureAlgorithms: ['v1', 'standard-webhooks-1'] };
const FILE = '/v1/host/workspace/files/a.md';

const OF_RUNS = ([1, 2] as const).flatMap((major): Operation[] => {
  const base = major === 1 ? '/v1' : '';
  const post = (path: string, body: unknown = {}): Asked => ({ method: 'POST', path: base + path, body });
  return [
    {
      name: 'cancelRun of an executing run',
      major,
      action: 'run.cancel',
      status: 200,
      says: { status: 'cancelling' },
      prepare: async (host) => post(`/runs/${await host.run(major)}/cancel`),
    },
    {
      name: 'cancelRun of a paused run',
      major,
      action: 'run.cancel',
      status: 200,
      says: { status: 'cancelled' },
      prepare: async (host) => post(`/runs/${await host.paused(major)}/cancel`),
    },
    {
      name: 'pauseRun at once',
      major,
      action: 'run.pause',
      status: 202,
      says: { status: 'paused', pausedAt: expect.any(String) },
      prepare: async (host) => post(`/runs/${await host.run(major)}:pause`, { drainPolicy: 'immediate' }),
    },
    {
      name: 'pauseRun after its node',
      major,
      action: 'run.pause',
      status: 202,
      says: { status: 'paused' },
      prepare: async (host) => post(`/runs/${await host.run(major)}:pause`),
    },
    {
      name: 'resumeRun',
      major,
      action: 'run.resume',
      status: 202,
      says: { status: 'running', resumedAt: expect.any(String) },
      prepare: async (host) => post(`/runs/${await host.paused(major)}:resume`),
    },
    {
      name: 'bulkCancelRuns',
      major,
      action: 'run.cancel',
      effects: 3,
      status: 200,
      says: { results: [{ ok: true }, { ok: true }, { ok: false }, { ok: true }] },
      async prepare(host) {
        const ids = [await host.run(major), await host.paused(major), 'run_absent', await host.run(major)];
        return post('/runs:bulk-cancel', { runIds: ids.map(decodeURIComponent) });
      },
    },
  ];
});

const OPERATIONS: readonly Operation[] = [
  ...OF_RUNS,
  {
    name: 'createRun',
    major: 2,
    action: 'run.create',
    status: 201,
    prepare: async () => ({ method: 'POST', path: '/runs', body: { workflowId: 'any' } }),
  },
  {
    name: 'registerWebhook',
    major: 1,
    action: 'webhook.register',
    status: 201,
    prepare: async () => ({ method: 'POST', path: '/v1/webhooks', body: HOOK_V1 }),
  },
  {
    name: 'unregisterWebhook',
    major: 1,
    action: 'webhook.unregister',
    status: 204,
    async prepare(host) {
      const made = await host.call(1, { method: 'POST', path: '/v1/webhooks', body: HOOK_V1 });
      return { method: 'DELETE', path: `/v1/webhooks/${made?.body.webhookId}?tenantId=prod` };
    },
  },
  {
    name: 'rotateWebhookSecret',
    major: 2,
    action: 'webhook.rotate-secret',
    status: 200,
    async prepare(host) {
      const made = await host.call(2, { method: 'POST', path: '/webhooks', body: STANDARD });
      const path = `/webhooks/${encodeURIComponent(made?.body.webhookId)}/rotate-secret`;
      return { method: 'POST', path, body: { secret: secret(2) } };
    },
  },
  {
    name: 'writeWorkspaceFile',
    major: 1,
    action: 'workspace.put',
    status: 200,
    prepare: async () => ({ method: 'PUT', path: FILE, body: { content: 'a' } }),
  },
  {
    name: 'deleteWorkspaceFile',
    major: 1,
    action: 'workspace.remove',
    status: 204,
    async prepare(host) {
      await host.call(1, { method: 'PUT', path: FILE, body: { content: 'a' } });
      return { method: 'DELETE', path: FILE };
    },
  },
];

describe(`${covers('operations.idempotency.once', 'operations.idempotency.every-mutation', 'operations.idempotency.survives-restart')} After a crash at any commit, it takes effect once, with one reply:`, () => {
  test.each(OPERATIONS)('$name in major $major', async (operation) => {
    const hosts = await mortalHosts(memoryStore());
    let commits = 1;
    while (!(await answeredWithin(hosts, commits, operation))) expect(++commits).toBeLessThan(50);
    hosts.end();
    // At least one crash was between the claim and the reply.
    expect(commits).toBeGreaterThan(2);
  });
});

/**
 * Crashes a host after a number of commits, and repeats the request at its successor. Returns true when the first host
 * replied.
 */
async function answeredWithin(
  hosts: MortalHosts,
  commits: number,
  { major, action, effects = 1, status, says, prepare }: Operation,
): Promise<boolean> {
  const asked = await prepare(hosts);
  const keyed = { 'idempotency-key': `0123456789abcdefghijklmnop-${commits}` };
  hosts.forget();
  hosts.dieAfter(commits);
  const before = await hosts.call(major, asked, keyed);
  if (hosts.isDead) await hosts.replace();
  else hosts.dieAfter(Number.POSITIVE_INFINITY);
  const after = await hosts.call(major, asked, keyed);
  const again = await hosts.call(major, asked, keyed);

  expect(after?.status, `after ${commits} commits`).toBe(status);
  if (says !== undefined) expect(after?.body).toMatchObject(says);
  if (before !== undefined) expect(after).toEqual({ ...before, isReplay: true });
  expect(again).toEqual({ ...after, isReplay: true });
  expect(hosts.recorded.get(action), `effects, after ${commits} commits`).toBe(effects);
  return before !== undefined;
}
