import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';
import { bearer, sender } from './callers.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const HOUR_MS = 3_600_000;

let folder: ReturnType<typeof scratch>;
let host: BootedHost | undefined;
beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  await end();
  folder.remove();
});

/** Boots the host of the folder, with a clock that is ahead. */
async function boot(aheadMs = 0): Promise<void> {
  writeFileSync(folder.path('clock.mjs'), `const { now } = Date; Date.now = () => now() + ${aheadMs};`);
  const config = {
    listen: { port: 0 },
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1', scopes: ['runs:*'] },
    ],
  };
  host = await bootHost(folder.path('config.json'), config, ['--import', folder.path('clock.mjs')]);
}

async function end(): Promise<void> {
  host?.process.kill('SIGTERM');
  await host?.ended;
  host = undefined;
}

const call = sender(() => host?.url ?? '');
const MAJOR_1 = { ...bearer(KEY), 'svc-version': '1' };
const MAJOR_2 = { ...bearer(KEY), 'svc-version': '2' };
const newRun = { workflowId: 'echo', inputs: {} };

async function endedRun(): Promise<string> {
  const { status, body } = await call('/v1/runs', { headers: MAJOR_1, body: newRun });
  expect(status).toBe(201);
  await eventually(
    async () => (await call(`/v1/runs/${body.runId}`, { headers: MAJOR_1 })).body.status === 'completed',
  );
  return body.runId;
}

/** Reads the stored document of a run, and replaces it when `change` is given. */
function stored(runId: string, change?: (document: Record<string, unknown>) => void): string {
  const database = new DatabaseSync(folder.path('svc.db'), { timeout: 10_000 });
  try {
    const found = database.prepare('SELECT run_id, document FROM runs WHERE run_id LIKE ?').get(`%${runId}`);
    if (change !== undefined) {
      const document = JSON.parse(String(found?.document));
      change(document);
      const text = JSON.stringify(document);
      database.prepare('UPDATE runs SET document = ? WHERE run_id = ?').run(text, String(found?.run_id));
      return text;
    }
    return String(found?.document);
  } finally {
    database.close();
  }
}

describe(
  covers(
    'runs.subject.legacy-synthesized',
    'runs.subject.legacy-lane-and-kind',
    'runs.subject.no-principal-no-subject',
    'versioning.axes.engine-version',
    'versioning.axes.engine-version-legacy-string',
    'versioning.axes.engine-version-not-rewritten',
    'versioning.axes.event-log-schema-absent',
  ),
  () => {
    test('runs of an older host are read in the form of today, and stay as they are stored', async () => {
      await boot();
      const [older, ownerless, kind] = [await endedRun(), await endedRun(), await endedRun()];
      await end();
      const owner = { tenant: 'acme', workspace: 'acme-prod' };
      const before = [
        stored(older, (document) => {
          document.owner = { ...owner, principal: 'p_old' };
          document.engineVersion = '7';
          delete document.eventLogSchemaVersion;
        }),
        stored(ownerless, (document) => {
          document.owner = owner;
        }),
        stored(kind, (document) => {
          document.owner = { ...owner, principal: 'p_old', principalKind: 'agent' };
        }),
      ];
      await boot();
      const read = async (runId: string) => ({
        v1: (await call(`/v1/runs/${runId}`, { headers: MAJOR_1 })).body,
        v2: (await call(`/runs/acme~2F${runId}`, { headers: MAJOR_2 })).body,
      });
      const legacy = { issuer: 'urn:svc:legacy', subjectId: 'p_old', tenant: 'acme', lane: 'api-key' };
      const first = await read(older);
      expect(first.v2.owner.subject).toEqual({ ...legacy, kind: 'user' });
      expect(first.v2).toMatchObject({ engineVersion: 7, eventLogSchemaVersion: 2 });
      expect(first.v1.engineVersion).toBe(7);
      expect((await call(`/v1/runs/${ownerless}`, { headers: MAJOR_1 })).body.owner).toEqual(owner);
      // The description of major 2 requires a subject, which such a run cannot have.
      const inMajor2 = await fetch(`${host?.url}/runs/acme~2F${ownerless}`, { headers: MAJOR_2 });
      expect(await inMajor2.json()).toMatchObject({
        owner: expect.not.objectContaining({ subject: expect.anything() }),
      });
      expect((await read(kind)).v2.owner.subject).toEqual({ ...legacy, kind: 'agent' });
      expect([older, ownerless, kind].map((runId) => stored(runId))).toEqual(before);
    });
  },
);

describe(covers('operations.idempotency.kept', 'operations.idempotency.retention'), () => {
  const keyed = (key: string, headers: Record<string, string>) => ({ ...headers, 'idempotency-key': key });
  const [CREATE, CANCEL] = ['0123456789abcdefghijklmn', 'nmlkjihgfedcba9876543210'] as const;

  test('a reply is kept for 24 hours with its status, headers and body, and is gone after them', async () => {
    await boot();
    const ended = `/runs/acme~2F${await endedRun()}/cancel`;
    const create = () => call('/runs', { headers: keyed(CREATE, MAJOR_2), body: newRun });
    const cancel = () => call(ended, { headers: keyed(CANCEL, MAJOR_2), body: {} });
    const first = [await create(), await cancel()];
    expect(first.map(({ status }) => status)).toEqual([201, 409]);
    for (const aheadMs of [0, 23.9 * HOUR_MS]) {
      if (aheadMs > 0) {
        await end();
        await boot(aheadMs);
      }
      for (const [index, again] of [await create(), await cancel()].entries()) {
        const { date: _, ...headers } = Object.fromEntries(again.headers);
        const { date: __, ...before } = Object.fromEntries(first[index]?.headers ?? []);
        expect([again.status, again.text]).toEqual([first[index]?.status, first[index]?.text]);
        expect(headers).toEqual({ ...before, 'svc-idempotent-replay': 'true' });
      }
    }
    await end();
    await boot(25 * HOUR_MS);
    const fresh = await create();
    expect([fresh.status, fresh.headers.get('svc-idempotent-replay')]).toEqual([201, null]);
    expect(fresh.body.runId).not.toBe(first[0]?.body.runId);
  });
});

describe(covers('runs.life.transitions'), () => {
  test('each status admits its own transitions, and no other', async () => {
    await boot();
    const start = async (workflowId: string, inputs: object, status: string) => {
      const { body } = await call('/v1/runs', { headers: MAJOR_1, body: { workflowId, inputs } });
      const path = `/runs/acme~2F${body.runId}`;
      await eventually(async () => (await call(path, { headers: MAJOR_2 })).body.status === status);
      return path;
    };
    const act = async (path: string, action: string) =>
      (await call(path + action, { headers: MAJOR_2, body: {} })).status < 300;
    const reach: Readonly<Record<string, () => Promise<string>>> = {
      running: () => start('delay', { ms: 60_000 }, 'running'),
      'waiting-approval': () => start('approval', {}, 'waiting-approval'),
      paused: async () => {
        const path = await start('delay', { ms: 60_000 }, 'running');
        await act(path, ':pause');
        await eventually(async () => (await call(path, { headers: MAJOR_2 })).body.status === 'paused');
        return path;
      },
      completed: () => start('echo', {}, 'completed'),
      failed: () => start('fail', {}, 'failed'),
      cancelled: async () => {
        const path = await start('delay', { ms: 60_000 }, 'running');
        await act(path, '/cancel');
        await eventually(async () => (await call(path, { headers: MAJOR_2 })).body.status === 'cancelled');
        return path;
      },
    };
    const admitted: Record<string, readonly string[]> = {};
    for (const [status, path] of Object.entries(reach)) {
      const actions: string[] = [];
      for (const action of [':pause', ':resume', '/cancel']) if (await act(await path(), action)) actions.push(action);
      admitted[status] = actions;
    }
    expect(admitted).toEqual({
      running: [':pause', '/cancel'],
      'waiting-approval': ['/cancel'],
      paused: [':resume', '/cancel'],
      completed: [],
      failed: [],
      cancelled: [],
    });
  });
});
