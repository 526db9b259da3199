import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, READER, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { elapsed, MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true });
});
afterAll(() => host.stop());

const TERMINAL = ['completed', 'failed', 'cancelled'];
const LONG = { ms: 60_000 };

describe.each(MAJORS)('in $name', (spoken) => {
  const { start, act, until, log, types, call, path, read } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';

  describe(`${covers('operations.runs.cancel-in-time', 'runs.life.one-end')} A run that is cancelled`, () => {
    test('ends before its work, with the reason and the caller', async () => {
      const runId = await start('delay', LONG);
      await eventually(async () => (await types(runId)).includes('node.started'));
      const answer = await act(runId, '/cancel', { reason: 'no longer needed' });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ runId, status: expect.stringMatching(/^cancell/) });
      await until(runId, 'cancelled');
      const events = await log(runId);
      expect(events.map(({ type }) => type)).toEqual([
        'run.started',
        'node.started',
        'node.cancelled',
        'run.cancelled',
      ]);
      expect(events.at(-1)?.payload).toMatchObject({ reason: 'no longer needed', cancelledBy: 'p_key_1' });
    });

    test('has one terminal event, even after several cancellations at any time', async () => {
      const runs = await Promise.all(Array.from({ length: 20 }, (_, turn) => start('delay', { ms: turn % 4 })));
      await Promise.all(runs.flatMap((runId) => [act(runId, '/cancel'), act(runId, '/cancel')]));
      for (const runId of runs) {
        const { status } = await until(runId, ...TERMINAL);
        const ended = (await types(runId)).filter((type) => /^run\.(completed|failed|cancelled)$/.test(type));
        expect(ended).toEqual([`run.${status}`]);
        expect((await types(runId)).at(-1)).toBe(`run.${status}`);
      }
    });

    test('may be cancelled without a body', async () => {
      const runId = await start('delay', LONG);
      expect((await call(path(runId, '/cancel'), { method: 'POST' })).status).toBe(200);
      await until(runId, 'cancelled');
    });

    test('is cancelled at once while it is paused', async () => {
      const runId = await start('delay', LONG);
      await act(runId, ':pause');
      await until(runId, 'paused');
      expect((await act(runId, '/cancel')).body).toMatchObject({ runId, status: 'cancelled' });
      expect((await types(runId)).at(-1)).toBe('run.cancelled');
    });

    test(`${isV1 ? covers('operations.runs.v1-cancel-ended') : covers('operations.runs.v2-cancel-ended')}`, async () => {
      const runId = await start('echo');
      await until(runId, 'completed');
      const answer = await act(runId, '/cancel');
      if (isV1) {
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual({ runId, status: 'completed', alreadyTerminal: true });
      } else {
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({ error: 'run_terminal', details: { runStatus: 'completed' } });
      }
    });

    test(`${covers('operations.runs.bulk-cancel')} a bulk cancel cancels or refuses each run, in the order of the request`, async () => {
      const [held, ended, dev] = await Promise.all([
        start('delay', LONG),
        start('echo'),
        start('delay', LONG, {}, { key: DEV }),
      ]);
      await until(ended, 'completed');
      const absent = isV1 ? 'run_absent' : 'acme/run_that_is_not_there_at_all';
      const foreign = isV1 ? 'not an id' : 'umbrella/run_01k0p3v5tq9d8m2x4c6b8n0r1s';
      const answer = await call('/runs:bulk-cancel', { body: { runIds: [absent, held, ended, dev, foreign] } });
      expect(answer.status).toBe(200);
      expect(answer.body.results).toMatchObject([
        { runId: absent, ok: false, error: { error: 'not_found' } },
        { runId: held, ok: true, status: expect.stringMatching(/^cancell/) },
        { runId: ended, ok: false, error: { error: 'run_terminal' } },
        { runId: dev, ok: false, error: { error: 'run_forbidden' } },
        { runId: foreign, ok: false, error: { error: isV1 ? 'validation_error' : 'id_tenant_mismatch' } },
      ]);
      await until(held, 'cancelled');
      await act(dev, '/cancel', {}, { key: DEV });
    });

    test(`${covers('versioning.ids.no-bare-id-in-v2')} a bulk cancel names runs as requested, in major 2 by bound ids`, async () => {
      const held = await start('delay', LONG);
      const requested = isV1
        ? [held, 'run_01k0p3v5tq9d8m2x4c6b8n0r1s', 'short']
        : [held.slice('acme/'.length), 'run_01k0p3v5tq9d8m2x4c6b8n0r1s', 'short', held.replace('/', '~2F')];
      const { body } = await call('/runs:bulk-cancel', { body: { runIds: requested } });
      expect(body.results.map(({ runId }: { runId: string }) => runId)).toEqual(
        isV1 ? requested : [held, 'acme/run_01k0p3v5tq9d8m2x4c6b8n0r1s', 'acme/short', held],
      );
    });

    test.each([0, 101])('a bulk cancel of %s runs is rejected', async (length) => {
      const answer = await call('/runs:bulk-cancel', { body: { runIds: Array.from({ length }, () => 'run_x') } });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: 'validation_error', details: { maxRunIds: 100 } });
    });
  });

  describe(`${covers('operations.runs.pause', 'operations.runs.resume')} A run that is paused`, () => {
    test('stands still until it is resumed, and continues for the remaining time', async () => {
      const runId = await start('delay', { ms: 3000 });
      await eventually(async () => (await types(runId)).includes('node.started'));
      const paused = await act(runId, ':pause', { reason: 'lunch' });
      expect(paused.status).toBe(202);
      expect(paused.body).toMatchObject({ runId, status: 'paused', pausedAt: expect.stringMatching(/Z$/) });
      expect((await read(runId)).status).toBe('paused');
      const resumed = await act(runId, ':resume', { reason: 'back' });
      expect(resumed.status).toBe(202);
      expect(resumed.body).toMatchObject({ runId, status: 'running', resumedAt: expect.stringMatching(/Z$/) });
      await until(runId, 'completed');
      const events = await log(runId);
      expect(events.map(({ type }) => type)).toEqual([
        ...['run.started', 'node.started', 'run.paused', 'run.resumed', 'node.completed', 'run.completed'],
      ]);
      expect(elapsed(events, 'node.started', 'node.completed')).toBeGreaterThanOrEqual(
        3000 + elapsed(events, 'run.paused', 'run.resumed'),
      );
      expect(events[2]?.payload).toEqual({ reason: 'lunch', drainPolicy: 'drain-current-node' });
      expect(events[3]?.payload).toEqual({ reason: 'back' });
    });

    test('with the policy immediate, names the interrupted node', async () => {
      const runId = await start('delay', { ms: 3000 });
      await eventually(async () => (await types(runId)).includes('node.started'));
      expect((await act(runId, ':pause', { drainPolicy: 'immediate' })).status).toBe(202);
      const { payload } = (await log(runId)).at(-1) ?? {};
      expect(payload).toEqual({ drainPolicy: 'immediate', interruptedNodeId: 'delay', interruptedAttempt: 0 });
      await act(runId, ':resume');
      await until(runId, 'completed');
    });

    test('goes on after several pauses', async () => {
      // It runs for longer than three pauses take on a busy machine, so it is cancelled.
      const runId = await start('delay', LONG);
      for (let turn = 0; turn < 3; turn++) {
        await until(runId, 'running');
        expect(
          (await act(runId, ':pause', { drainPolicy: turn === 1 ? 'immediate' : 'drain-current-node' })).status,
        ).toBe(202);
        await until(runId, 'paused');
        expect((await act(runId, ':resume')).status).toBe(202);
      }
      await until(runId, 'running');
      expect((await act(runId, '/cancel')).status).toBe(200);
      await until(runId, 'cancelled');
      const seen = await types(runId);
      expect(seen.filter((type) => type === 'run.paused').length).toBe(3);
      expect(seen.filter((type) => type === 'node.started').length).toBe(1);
    });

    test(`${covers('operations.runs.pause-conflict')} a refused pause or resume names the status of the run`, async () => {
      const ended = await start('echo');
      await until(ended, 'completed');
      for (const verb of [':pause', ':resume']) {
        const answer = await act(ended, verb);
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({ error: 'run_terminal', details: { runStatus: 'completed' } });
      }
      const going = await start('delay', LONG);
      await until(going, 'running');
      expect(await act(going, ':resume')).toMatchObject({
        status: 409,
        body: { error: 'run_state_conflict', details: { runStatus: 'running' } },
      });
      await act(going, ':pause');
      expect(await act(going, ':pause')).toMatchObject({
        status: 409,
        body: {
          error: 'run_state_conflict',
          details: { runStatus: 'paused', pausedAt: expect.stringMatching(/Z$/) },
        },
      });
      await act(going, '/cancel');
    });
  });

  test('rejects unknown fields and values in the body of an operation', async () => {
    const runId = await start('delay', LONG);
    for (const [what, body] of [
      ['/cancel', { because: 'x' }],
      ['/cancel', { reason: 'x'.repeat(513) }],
      [':pause', { drainPolicy: 'soon' }],
      [':pause', { now: true }],
      [':resume', { reason: 1 }],
    ] as const) {
      expect(await act(runId, what, body)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    }
    await act(runId, '/cancel');
  });

  test(`${covers('operations.routes.required-scope')} is checked for existing runs`, async () => {
    const runId = await start('delay', LONG);
    for (const what of ['/cancel', ':pause', ':resume']) {
      const answer = await act(runId, what, {}, { key: READER });
      expect(answer).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      expect(JSON.stringify(answer.body)).toContain('runs:cancel');
      expect(await act(runId, what, {}, { key: DEV })).toMatchObject({ status: 403, body: { error: 'run_forbidden' } });
      const stranger = await act(runId, what, {}, { key: OTHER_TENANT });
      if (isV1) expect(stranger).toMatchObject({ status: 404, body: { error: 'not_found' } });
      else expect(stranger).toMatchObject({ status: 403, body: { error: 'id_tenant_mismatch' } });
    }
    expect((await read(runId)).status).toBe('running');
    await act(runId, '/cancel', {}, { key: WIDE });
    await until(runId, 'cancelled');
  });

  test('a conditional read returns a new state when the run ends', async () => {
    const runId = await start('delay', LONG);
    // From then on nothing happens to the run.
    await eventually(async () => (await types(runId)).includes('node.started'));
    const tagOf = async () => (await call(path(runId))).headers.get('etag');
    const before = await tagOf();
    expect(await tagOf()).toBe(before);
    await act(runId, '/cancel');
    expect(await tagOf()).not.toBe(before);
  });
});

describe(`${covers('operations.runs.list')} The list of runs`, () => {
  const { start, until, call } = runDriver(() => host, MAJORS[1]);
  const listed = async (query: string, key = KEY) => {
    const answer = await call(`/runs${query}`, { key });
    expect(answer.status).toBe(200);
    return answer.body as { runs: { runId: string; status: string; workflowId: string }[]; nextCursor?: string };
  };

  test('is newest first, in pages, and contains each run of the caller once', async () => {
    const runs: string[] = [];
    for (let turn = 0; turn < 5; turn++) runs.push(await start('echo', { turn }, {}, { key: DEV }));
    const ids: string[] = [];
    let cursor = '';
    for (;;) {
      const page = await listed(`?limit=2${cursor}`, DEV);
      expect(page.runs.length).toBeLessThanOrEqual(2);
      ids.push(...page.runs.map(({ runId }) => runId));
      if (page.nextCursor === undefined) break;
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
    expect(ids.slice(0, 5)).toEqual([...runs].reverse());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('contains only the runs that the credential reaches', async () => {
    const [prod, dev, tenant, other] = [
      await start('echo'),
      await start('echo', {}, {}, { key: DEV }),
      await start('echo', {}, {}, { key: WIDE }),
      await start('echo', {}, {}, { key: OTHER_TENANT }),
    ];
    const seen = async (key: string) => {
      const ids = new Set((await listed('?limit=100', key)).runs.map(({ runId }) => runId));
      return [prod, dev, tenant, other].map((runId) => ids.has(runId));
    };
    expect(await seen(KEY)).toEqual([true, false, false, false]);
    expect(await seen(DEV)).toEqual([false, true, false, false]);
    expect(await seen(WIDE)).toEqual([true, true, true, false]);
    expect(await seen(OTHER_TENANT)).toEqual([false, false, false, true]);
  });

  test('is filtered by workflow and by status', async () => {
    const failing = await start('fail');
    await until(failing, 'failed');
    const { runs } = await listed('?status=failed&workflowId=fail&limit=10');
    expect(runs[0]?.runId).toBe(failing);
    expect(runs.every(({ status, workflowId }) => status === 'failed' && workflowId === 'fail')).toBe(true);
    expect((await listed('?status=no-such-status')).runs).toEqual([]);
  });

  test.each(['limit=0', 'limit=many', 'cursor=abc', 'cursor=', 'cursor=a&cursor=b'])('refuses ?%s', async (query) => {
    expect(await call(`/runs?${query}`)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  });

  test('rejects a cursor of another tenant and a changed one', async () => {
    for (let turn = 0; turn < 2; turn++) await start('echo', {}, {}, { key: OTHER_TENANT });
    const { nextCursor = '' } = await listed('?limit=1', OTHER_TENANT);
    for (const cursor of [nextCursor, `${(await listed('?limit=1')).nextCursor}x`]) {
      expect(await call(`/runs?cursor=${cursor}`)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    }
  });

  test('limits a page to 100 runs', async () => {
    expect((await listed('?limit=100000')).runs.length).toBeLessThanOrEqual(100);
  });

  test('is no operation of major 1', async () => {
    expect((await host.call('/v1/runs')).status).toBe(405);
  });
});

describe(`${covers('runs.life.survives-restart')} A host that is killed`, () => {
  const { start, act, until, types } = runDriver(() => host, MAJORS[0]);

  test('continues a delay for the remaining time', async () => {
    const { from, runId } = await host.killAfter(async () => {
      const from = Date.now();
      const runId = await start('delay', { ms: 4000 });
      await until(runId, 'running');
      return { from, runId };
    });
    await until(runId, 'completed');
    expect(Date.now() - from).toBeGreaterThanOrEqual(4000);
    expect(await types(runId)).toEqual(['run.started', 'node.started', 'node.completed', 'run.completed']);
  });

  test('leaves a paused run paused, and ends a cancelled one', async () => {
    // Neither ends by itself before it is paused or cancelled.
    const { paused, cancelled } = await host.killAfter(async () => {
      const [paused, cancelled] = [await start('delay', LONG), await start('delay', LONG)];
      expect((await act(paused, ':pause')).status).toBe(202);
      expect((await act(cancelled, '/cancel')).status).toBe(200);
      return { paused, cancelled };
    });
    await until(cancelled, 'cancelled');
    expect((await types(cancelled)).filter((type) => type === 'run.cancelled')).toEqual(['run.cancelled']);
    await until(paused, 'paused');
    expect((await act(paused, ':resume')).status).toBe(202);
    await until(paused, 'running');
    expect((await act(paused, '/cancel')).status).toBe(200);
    await until(paused, 'cancelled');
  });
});
