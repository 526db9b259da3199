import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { elapsed, MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true });
});
afterAll(() => host.stop());

describe.each(MAJORS)('in $name', (spoken) => {
  const { start, act, until, log, types, call, path, read } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';

  const fork = (runId: string, body: object, key?: string) =>
    act(runId, ':fork', body, key === undefined ? {} : { key });

  async function forked(runId: string, body: object) {
    const answer = await fork(runId, body);
    expect(answer.status).toBe(201);
    return answer.body;
  }

  async function ended(workflowId: string, inputs: object = {}, fields: object = {}): Promise<string> {
    const runId = await start(workflowId, inputs, fields);
    await until(runId, 'completed', 'failed');
    return runId;
  }

  describe(covers('operations.forks.replay'), () => {
    test.each([
      ['echo', { a: 1 }, 'completed'],
      ['fail', { message: 'on purpose' }, 'failed'],
      ['artifact', { content: 'a draft' }, 'completed'],
      ['burst', { events: 1234 }, 'completed'],
    ])('a replay of %s has the same events', async (workflowId, inputs, status) => {
      const source = await ended(workflowId, inputs);
      const body = await forked(source, { mode: 'replay' });
      expect(body).toMatchObject({ sourceRunId: source, mode: 'replay', fromSeq: 0 });
      expect(body.runId).not.toBe(source);
      expect((await until(body.runId, 'completed', 'failed')).status).toBe(status);
      const told = async (runId: string) =>
        (await log(runId)).map(({ type, sequence, payload: { durationMs: _, ...payload } }) => {
          if (type !== 'run.started') return { type, sequence, payload };
          return { type, sequence };
        });
      expect(await told(body.runId)).toEqual(await told(source));
    });

    test('does not wait for the time of the source', async () => {
      const source = await ended('delay', { ms: 3000 });
      const { runId } = await forked(source, { mode: 'replay' });
      await until(runId, 'completed');
      expect(elapsed(await log(runId), 'run.started', 'run.completed')).toBeLessThan(3000);
    });

    test('asks no question again', async () => {
      const source = await start('approval');
      await until(source, 'waiting-approval');
      await act(source, '/interrupts/approval', { resumeValue: { action: 'accept' } });
      await until(source, 'completed');
      const { runId } = await forked(source, { mode: 'replay' });
      await until(runId, 'completed');
      expect(await types(runId)).toEqual(await types(source));
    });

    test('makes no artifact again, and has the artifacts of the source', async () => {
      const source = await ended('artifact', { content: 'a draft' });
      const { runId } = await forked(source, { mode: 'replay' });
      await until(runId, 'completed');
      const artifactId = (await log(runId)).find(({ type }) => type === 'artifact.created')?.payload.artifactId;
      const read = await call(path(runId, `/artifacts/${artifactId}`));
      expect(read).toMatchObject({ status: 200, body: { artifactId, runId, content: 'a draft' } });
    });

    test('of an interrupted run fails at the node without a recorded result', async () => {
      const source = await start('delay', { ms: 60_000 });
      await until(source, 'running');
      await eventually(async () => (await types(source)).includes('node.started'));
      await act(source, '/cancel');
      await until(source, 'cancelled');
      const { runId } = await forked(source, { mode: 'replay' });
      const { error } = await until(runId, 'failed');
      expect(error.code).toBe('replay_source_missing');
      expect(await types(runId)).toContain('replay.diverged');
    });
  });

  describe(covers('operations.forks.branch'), () => {
    test('a branch has the events before its point, and executes the rest', async () => {
      const source = await ended('echo', { a: 1 }, { tags: ['x'], metadata: { by: 'source' } });
      const configurable = isV1 ? { model: 'm' } : { version: 1, run: { recursionLimit: 3 } };
      const overlay = { tags: ['y'], metadata: { also: 'branch' }, configurable };
      const { runId, fromSeq } = await forked(source, { mode: 'branch', fromSeq: 2, runOptionsOverlay: overlay });
      expect(fromSeq).toBe(2);
      const snapshot = await until(runId, 'completed');
      expect(snapshot).toMatchObject({ tags: ['y'], metadata: { by: 'source', also: 'branch' }, configurable });
      const events = await log(runId);
      // The node that was open at the point is executed again.
      expect(events.map(({ type }) => type)).toEqual([
        ...['run.started', 'node.started', 'node.started', 'node.completed', 'run.completed'],
      ]);
      expect(events.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4]);
      expect(new Set(events.map((event) => JSON.stringify(event)).filter((text) => text.includes(source)))).toEqual(
        new Set(),
      );
    });

    test('a branch from a point after an answer has the answer, and one from before asks again', async () => {
      const source = await start('approval');
      await until(source, 'waiting-approval');
      await act(source, '/interrupts/approval', { resumeValue: { action: 'accept' } });
      await until(source, 'completed');
      const seen = await types(source);
      const answered = seen.indexOf('node.resumed') + 1;
      const after = await forked(source, { mode: 'branch', fromSeq: answered });
      await until(after.runId, 'completed');
      const before = await forked(source, { mode: 'branch', fromSeq: seen.indexOf('node.suspended') });
      await until(before.runId, 'waiting-approval');
      await act(before.runId, '/interrupts/approval', { resumeValue: { action: 'reject' } });
      await until(before.runId, 'failed');
    });

    test('continues after the host was killed', async () => {
      const source = await ended('delay', { ms: 100 });
      const { runId } = await host.killAfter(() => forked(source, { mode: 'branch', fromSeq: 1 }));
      await until(runId, 'completed');
      expect(await types(runId)).toEqual(['run.started', 'node.started', 'node.completed', 'run.completed']);
    });
  });

  test(covers('runs.subject.copied-to-fork'), async () => {
    const source = await ended('echo');
    const { owner } = await read(source);
    for (const body of [{ mode: 'replay' }, { mode: 'branch', fromSeq: 0 }]) {
      const answer = await fork(source, body, WIDE);
      expect((await read(answer.body.runId)).owner).toEqual(owner);
    }
  });

  test(
    covers(
      'webhooks.delivery.no-replayed-history',
      'webhooks.delivery.replay-read-from-run',
      'webhooks.delivery.branch-delivered',
    ),
    async () => {
      const { receiver } = host;
      const events = ['run.started', 'node.completed', 'run.completed'];
      const tag = `forks-${spoken.major}`;
      const registration = isV1 ? { tenantId: 'acme-prod' } : { secret: 'a secret that the subscriber brings' };
      const registered = await call('/webhooks', {
        body: { url: receiver.url, events, tags: [tag], ...registration },
      });
      receiver.trust(isV1 ? registered.body.secret : 'a secret that the subscriber brings');
      const source = await ended('echo', {}, { tags: [tag] });
      const heardOf = (runId: string) =>
        receiver.deliveries.filter((delivery) => delivery.runId === runId).map(({ eventType }) => eventType);
      await eventually(() => heardOf(source).length === 3);
      const replay = await forked(source, { mode: 'replay' });
      const partial = await forked(source, { mode: 'replay', fromSeq: 2 });
      const branch = await forked(source, { mode: 'branch', fromSeq: 1 });
      for (const { runId } of [replay, partial, branch]) await until(runId, 'completed');
      await eventually(() => heardOf(branch.runId).length === 2);
      // Deliveries leave in the order of their events, so any delivery of a replay comes before those of a later run.
      const later = await ended('echo', {}, { tags: [tag] });
      await eventually(() => heardOf(later).length === 3);
      expect(heardOf(branch.runId).sort()).toEqual(['node.completed', 'run.completed']);
      expect([...heardOf(replay.runId), ...heardOf(partial.runId)]).toEqual([]);
    },
  );

  test(covers('operations.forks.refused'), async () => {
    const source = await ended('echo');
    for (const body of [
      {},
      { mode: 'other' },
      { mode: 'branch' },
      { mode: 'branch', fromSeq: -1 },
      { mode: 'branch', fromSeq: 0.5 },
      { mode: 'branch', fromSeq: '1' },
      { mode: 'replay', runOptionsOverlay: { tags: ['x'] } },
      { mode: 'branch', fromSeq: 0, runOptionsOverlay: { inputs: {} } },
      { mode: 'replay', more: true },
    ]) {
      expect(await fork(source, body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { error: 'validation_error' },
      });
    }
    expect((await fork(source, { mode: 'replay', runOptionsOverlay: {} })).status).toBe(201);
    for (const fromSeq of [4, 1_000_000]) {
      expect(await fork(source, { mode: 'branch', fromSeq })).toMatchObject({
        status: 422,
        body: { error: 'fork_point_invalid' },
      });
    }
    expect(await fork(source, { mode: 'replay' }, READER)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    expect(await fork(source, { mode: 'replay' }, DEV)).toMatchObject({
      status: 403,
      body: { error: 'run_forbidden' },
    });
    expect((await fork(source, { mode: 'replay' }, OTHER_TENANT)).status).toBe(isV1 ? 404 : 403);
  });
});

test('shows the suppression of effects to every authenticated caller', async () => {
  const answer = await host.call('/host/effect-seams', { major: '2' });
  expect(answer.status).toBe(200);
  expect(answer.body.seams.length).toBeGreaterThan(0);
  expect((await host.call('/host/effect-seams', { major: '2', key: 'nobody' })).status).toBe(401);
  const discovery = await host.call('/.well-known/svc', { major: '2' });
  expect(discovery.body.replay).toMatchObject({
    modes: ['replay', 'branch'],
    effectSeamsManifest: '/host/effect-seams',
  });
  const earlier = await host.call('/.well-known/svc', { major: '1' });
  expect(earlier.body.replay).toEqual({
    ...{ supported: true, modes: ['replay', 'branch'], fork: true },
    sideEffectSuppression: 'recorded-outcome',
  });
});
