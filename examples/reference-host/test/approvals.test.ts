import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, CHIEF, DEV, KEY, OTHER_TENANT, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

const REVIEWERS = { id: 'reviewers', tenant: 'acme', members: ['p_key_1', 'p_key_2'] };
// A group of the same name in another tenant must not open the approvals of this one.
const STRANGERS = { id: 'reviewers', tenant: 'umbrella', members: ['p_key_3', 'p_key_4'] };

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true }, { groups: [REVIEWERS, STRANGERS] });
});
afterAll(() => host.stop());

const NODE = 'approval';
const accept = { resumeValue: { action: 'accept' } };
const reject = { resumeValue: { action: 'reject' } };
const escalated = { approvers: ['p_key_1'], escalateTo: ['p_key_3'] };

describe.each(MAJORS)('in $name', (spoken) => {
  const { start, act, until, log, types, read } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';

  async function waiting(inputs: object): Promise<string> {
    const runId = await start('approval', inputs);
    await until(runId, 'waiting-approval');
    return runId;
  }
  const answer = (runId: string, body: object, key = KEY) => act(runId, `/interrupts/${NODE}`, body, { key });
  const bareId = (runId: string) => runId.slice(runId.indexOf('/') + 1);
  const override = (runId: string, body: object = { reason: 'The release fixes an outage.' }, key = CHIEF) =>
    host.call(`/host/example/interrupts/${bareId(runId)}/${NODE}/override`, { body, key });
  const payloads = async (runId: string, wanted: string) =>
    (await log(runId)).filter(({ type }) => type === wanted).map(({ payload }) => payload);

  describe(covers('interrupts.approval.groups'), () => {
    test('the members of a group can answer, and each vote is recorded with its progress', async () => {
      const runId = await waiting({ approverGroups: ['reviewers'], approvers: ['p_key_3'], requiredApprovals: 2 });
      const [requested] = await payloads(runId, 'interrupt.requested');
      expect(requested).toMatchObject({ data: { approverGroupRefs: ['reviewers'], approversList: ['p_key_3'] } });
      expect((await answer(runId, accept)).body.status).toBe('waiting-approval');
      expect((await answer(runId, accept, WIDE)).body.status).toBe('running');
      await until(runId, 'completed');
      expect((await payloads(runId, 'approval.received')).length).toBe(2);
      if (isV1) {
        expect(await payloads(runId, 'approval.granted')).toEqual([
          { gateId: NODE, principal: 'p_key_1', quorumProgress: { approvals: 1, rejections: 0, required: 2 } },
          { gateId: NODE, principal: 'p_key_3', quorumProgress: { approvals: 2, rejections: 0, required: 2 } },
        ]);
      }
    });

    test('a caller outside of the group is refused, also by a token and by a claim of its own', async () => {
      const runId = await waiting({ approverGroups: ['reviewers'] });
      expect(await answer(runId, accept, WIDE)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      const claimed = { resumeValue: { action: 'accept', decidedBy: 'p_key_1' } };
      expect((await answer(runId, claimed, WIDE)).status).toBe(403);
      const token = { body: {}, key: WIDE };
      expect((await host.call(`/host/example/interrupts/${bareId(runId)}/${NODE}/tokens`, token)).status).toBe(403);
      // A member of the group in another workspace does not reach the run.
      expect(await answer(runId, accept, DEV)).toMatchObject({ status: 403, body: { error: 'run_forbidden' } });
      expect((await answer(runId, accept, OTHER_TENANT)).status).toBe(isV1 ? 404 : 403);
      expect((await read(runId)).status).toBe('waiting-approval');
      await act(runId, '/cancel');
    });

    test('the token of a member answers as the member', async () => {
      const runId = await waiting({ approverGroups: ['reviewers'] });
      const minted = await host.call(`/host/example/interrupts/${bareId(runId)}/${NODE}/tokens`, { body: {} });
      const place = `${spoken.base}/interrupts/${minted.body.token}`;
      expect((await host.call(place, { major: spoken.major, key: 'none', body: accept })).status).toBe(200);
      await until(runId, 'completed');
    });

    test('a principal that has left the group can no longer answer', async () => {
      const runId = await waiting({ approverGroups: ['reviewers'], requiredApprovals: 2 });
      await answer(runId, accept);
      await host.reboot({}, { groups: [{ ...REVIEWERS, members: ['p_key_3'] }] });
      expect((await answer(runId, reject)).status).toBe(403);
      // A vote that was cast counts.
      expect((await answer(runId, accept, WIDE)).body.status).toBe('running');
      await until(runId, 'completed');
      await host.reboot({}, { groups: [REVIEWERS, STRANGERS] });
    });
  });

  describe(covers('interrupts.approval.votes'), () => {
    test('the same vote again changes nothing, and is audited', async () => {
      const runId = await waiting({ requiredApprovals: 2 });
      const votes = await Promise.all([answer(runId, accept), answer(runId, accept), answer(runId, accept)]);
      expect(votes.map(({ status, body }) => [status, body.status])).toEqual([
        ...[1, 2, 3].map(() => [200, 'waiting-approval']),
      ]);
      expect((await payloads(runId, 'approval.received')).length).toBe(1);
      await act(runId, '/cancel');
    });

    test('a principal can change its vote until the approval is decided', async () => {
      const runId = await waiting({ requiredApprovals: 3, rejectionPolicy: 'majority' });
      await answer(runId, reject);
      await answer(runId, accept);
      expect((await read(runId)).status).toBe('waiting-approval');
      await answer(runId, reject);
      await answer(runId, reject, WIDE);
      expect((await until(runId, 'failed')).error.code).toBe('approval_rejected');
      expect((await answer(runId, accept)).body.error).toBe('interrupt_already_resolved');
    });

    test('of the last vote and a veto at once, one decides', async () => {
      for (let turn = 0; turn < 4; turn++) {
        const runId = await waiting({ requiredApprovals: 1, approvers: ['p_key_1', 'p_key_3'] });
        const [granted, vetoed] = await Promise.all([answer(runId, accept), answer(runId, reject, WIDE)]);
        expect([granted.status, vetoed.status].toSorted()).toEqual([200, 409]);
        const run = await until(runId, 'completed', 'failed');
        expect(run.status).toBe(granted.status === 200 ? 'completed' : 'failed');
        expect((await types(runId)).filter((type) => type === 'interrupt.resolved').length).toBe(1);
      }
    });
  });

  describe(covers('interrupts.approval.override'), () => {
    test('grants an approval that permits it, with its reason in the log, in the audit log and to subscribers', async () => {
      const body = { url: host.receiver.url, events: ['approval.overridden'], ...(isV1 && { tenantId: 'acme-prod' }) };
      const registered = await host.call(`${spoken.base}/webhooks`, { body, major: spoken.major });
      expect(registered.status).toBe(201);
      host.receiver.trust(registered.body.secret);
      const runId = await waiting({ approvers: ['p_key_3'], overrideBypassesQuorum: true });
      const done = await override(runId);
      expect(done).toMatchObject({
        status: 200,
        body: { runId: expect.stringContaining(bareId(runId)), nodeId: NODE },
      });
      await until(runId, 'completed');
      const told = (await log(runId)).slice(5).map(({ type }) => type);
      expect(told).toEqual([
        ...['approval.received', 'approval.overridden', 'interrupt.resolved', 'node.resumed'],
        ...['node.completed', 'run.completed'],
      ]);
      const [overridden] = await payloads(runId, 'approval.overridden');
      const [resolved] = await payloads(runId, 'interrupt.resolved');
      const reason = 'The release fixes an outage.';
      if (isV1) {
        const quorumProgress = { approvals: 1, rejections: 0, required: 1 };
        expect(overridden).toEqual({ gateId: NODE, principal: 'p_key_10', reason, quorumProgress });
      } else {
        expect(overridden).toMatchObject({ nodeId: NODE, decision: 'overridden', resumeValue: { feedback: reason } });
        expect(resolved).toMatchObject({ decision: 'overridden', reason: 'override', action: 'accept' });
      }
      expect((await payloads(runId, 'run.completed'))[0]).toMatchObject({ outputs: { isOverride: true } });
      await eventually(() => host.receiver.deliveries.some(({ webhookId }) => webhookId === registered.body.webhookId));
      expect((await override(runId)).body.error).toBe('interrupt_already_resolved');
    });

    test('counts as one vote without that permission, and once', async () => {
      const runId = await waiting({ approvers: ['p_key_1', 'p_key_3'], requiredApprovals: 2 });
      await override(runId);
      await override(runId);
      expect((await read(runId)).status).toBe('waiting-approval');
      expect((await types(runId)).filter((type) => type === 'approval.overridden').length).toBe(1);
      await answer(runId, accept);
      await until(runId, 'completed');
      if (!isV1) expect((await payloads(runId, 'interrupt.resolved'))[0]).toMatchObject({ decision: 'granted' });
    });

    test('is refused without its scope, a reason, the tenant or an approval that waits', async () => {
      const runId = await waiting({ overrideBypassesQuorum: true });
      const reason = { reason: 'because' };
      expect(await override(runId, reason, KEY)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      expect((await override(runId, {})).status).toBe(400);
      expect((await override(runId, { reason: ' ' })).status).toBe(400);
      expect((await override(runId, reason, OTHER_TENANT)).status).toBe(403);
      expect((await read(runId)).status).toBe('waiting-approval');
      const elsewhere = `/host/example/interrupts/${bareId(runId)}/other/override`;
      expect((await host.call(elsewhere, { body: reason, key: CHIEF })).status).toBe(404);
      await act(runId, '/cancel');
      expect((await override(runId)).body.error).toBe('interrupt_already_resolved');
      const asks = await start('clarification');
      await until(asks, 'waiting-input');
      const question = `/host/example/interrupts/${bareId(asks)}/clarification/override`;
      expect((await host.call(question, { body: reason, key: CHIEF })).status).toBe(404);
      await act(asks, '/cancel');
    });
  });

  describe(covers('interrupts.approval.escalation'), () => {
    test('opens the approval to further approvers, tells it once, and keeps the first ones', async () => {
      const later = await waiting({ ...escalated, escalateAfterMs: 600_000, timeoutMs: 900_000 });
      expect((await answer(later, accept, WIDE)).status).toBe(403);
      await act(later, '/cancel');
      const runId = await waiting({ ...escalated, escalateAfterMs: 200, timeoutMs: 60_000 });
      await eventually(async () => (await payloads(runId, 'approval.requested')).length === 2);
      const [, again] = await payloads(runId, 'approval.requested');
      expect(isV1 ? again : again?.data).toMatchObject({ approversList: ['p_key_1', 'p_key_3'] });
      const [line] = await payloads(runId, 'log.appended');
      expect(line).toMatchObject({ level: 'warn', message: 'The approval was escalated: step 1 of 1.' });
      const minted = await host.call(`/host/example/interrupts/${bareId(runId)}/${NODE}/tokens`, { body: {} });
      const shown = await host.call(`${spoken.base}/interrupts/${minted.body.token}`, {
        major: spoken.major,
        key: 'none',
      });
      expect(shown.body.data.approversList).toEqual(['p_key_1', 'p_key_3']);
      expect((await answer(runId, accept, WIDE)).status).toBe(200);
      await until(runId, 'completed');
      expect((await types(runId)).filter((type) => type === 'interrupt.requested').length).toBe(1);
    });

    test('ends with a rejection at the timeout, which it does not prolong', async () => {
      const runId = await start('approval', { ...escalated, escalateAfterMs: 100, timeoutMs: 400 });
      const { error } = await until(runId, 'failed');
      expect(error).toMatchObject({ code: 'approval_rejected', message: 'The approval was not answered in time.' });
      expect((await answer(runId, accept, WIDE)).status).toBe(409);
      expect((await payloads(runId, 'approval.requested')).length).toBeLessThanOrEqual(2);
    });

    test('an answer at the time of the escalation counts once', async () => {
      const ends = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const runId = await waiting({ ...escalated, escalateAfterMs: 300, timeoutMs: 60_000 });
          await new Promise((resolve) => setTimeout(resolve, 200 + index * 150));
          const { status } = await answer(runId, accept);
          await until(runId, 'completed');
          return [status, (await types(runId)).filter((type) => type === 'interrupt.resolved').length];
        }),
      );
      expect(ends).toEqual(Array.from({ length: 6 }, () => [200, 1]));
    });
  });
});

// One kill for both majors: a boot of a process takes longer than the test.
test(`${covers('interrupts.approval.votes', 'interrupts.approval.escalation')} votes and the timer of an escalation outlive kills of the host`, async () => {
  const drivers = MAJORS.map((spoken) => runDriver(() => host, spoken));
  const place = `/interrupts/${NODE}`;
  const runs = await host.killAfter(() =>
    Promise.all(
      drivers.map(async (driver) => {
        const [voted, escalating] = [
          await driver.start('approval', { requiredApprovals: 2 }),
          await driver.start('approval', { ...escalated, escalateAfterMs: 1500, timeoutMs: 60_000 }),
        ];
        for (const runId of [voted, escalating]) await driver.until(runId, 'waiting-approval');
        await driver.act(voted, place, accept);
        const requests = async () => (await driver.types(escalating)).filter((type) => type === 'approval.requested');
        return { driver, voted, escalating, requests };
      }),
    ),
  );
  for (const { driver, voted } of runs) {
    expect((await driver.act(voted, place, accept)).body.status).toBe('waiting-approval');
    expect((await driver.act(voted, place, accept, { key: WIDE })).body.status).toBe('running');
    await driver.until(voted, 'completed');
  }
  await host.killAfter(async () => {
    for (const { requests } of runs) await eventually(async () => (await requests()).length === 2);
  });
  for (const { driver, escalating, requests } of runs) {
    expect((await requests()).length).toBe(2);
    expect((await driver.act(escalating, place, accept, { key: WIDE })).status).toBe(200);
    await driver.until(escalating, 'completed');
  }
});

test('discovery names the ways in which an approval can name approvers', async () => {
  const [first, second] = await Promise.all(['1', '2'].map((major) => host.call('/.well-known/svc', { major })));
  expect(first?.body.interrupts.refKinds).toEqual(['principal', 'group']);
  expect(second?.body.interrupt.refKinds).toEqual(['principal', 'group']);
});
