import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, READER, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true });
});
afterAll(() => host.stop());

const GATE = 'approval';
const accept = { resumeValue: { action: 'accept' } };
const reject = { resumeValue: { action: 'reject', feedback: 'not like this' } };
const UNKNOWN = 'int_01k0p3v5tq9d8m2x4c6b8n0r1s';

describe.each(MAJORS)('in $name', (spoken) => {
  const { start, act, until, log, types, read } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';
  const place = `/interrupts/${GATE}`;

  async function waiting(inputs: object = {}, fields: object = {}): Promise<string> {
    const runId = await start('approval', inputs, fields);
    const snapshot = await until(runId, 'waiting-approval');
    expect(snapshot.currentNodeId).toBe(GATE);
    return runId;
  }

  const answer = (runId: string, body: object, key = KEY) => act(runId, place, body, { key });

  async function tokenFor(runId: string, asked: object = {}, key = KEY) {
    const bare = runId.slice(runId.indexOf('/') + 1);
    const minted = await host.call(`/host/example/interrupts/${bare}/${GATE}/tokens`, { body: asked, key });
    return minted as { status: number; body: { token: string; path: string; expiresAt: string; error?: string } };
  }

  describe(covers('interrupts.approval.waits', 'interrupts.approval.events'), () => {
    test('the run waits, and shows its question in the words of the major', async () => {
      const runId = await waiting({ title: 'Publish?' });
      const events = await log(runId);
      expect(events.map(({ type }) => type)).toEqual([
        ...['run.started', 'node.started', 'node.suspended', 'interrupt.requested', 'approval.requested'],
      ]);
      const [, , suspended, requested, approval] = events.map(({ payload }) => payload);
      const interruptId = isV1 ? /^int_/ : /^acme\/int_/;
      expect(suspended).toEqual({
        ...{ nodeId: GATE, interruptId: expect.stringMatching(interruptId), kind: 'approval', key: 'round-1' },
        reason: 'interrupt',
      });
      const actions = ['accept', 'reject', 'refine', isV1 ? 'edit' : 'edit-accept', 'ask'];
      const data = { artifactId: 'draft-1', artifactType: 'draft', title: 'Publish?', actions };
      const question = { kind: 'approval', key: 'round-1', data };
      if (isV1) {
        const of = { runId, nodeId: GATE, interruptId: suspended?.interruptId };
        expect(requested).toEqual({ ...question, ...of, requestedAt: expect.stringMatching(/Z$/) });
        const { nodeId, interruptId } = of;
        expect(approval).toEqual({ nodeId, interruptId, ...data });
      } else {
        expect(requested).toEqual(question);
        expect(approval).toEqual(question);
      }
      await answer(runId, accept);
      await until(runId, 'completed');
    });

    test('completes with the answer after an acceptance', async () => {
      const runId = await waiting();
      const resolved = await answer(runId, { resumeValue: { action: 'accept', feedback: 'well done' } });
      expect(resolved).toMatchObject({ status: 200, body: { runId, nodeId: GATE, status: 'running' } });
      await until(runId, 'completed');
      const events = (await log(runId)).slice(5);
      expect(events.map(({ type }) => type)).toEqual([
        ...['approval.received', 'approval.granted', 'interrupt.resolved', 'node.resumed'],
        ...['node.completed', 'run.completed'],
      ]);
      const [received, granted, settled, resumed, , completed] = events.map(({ payload }) => payload);
      const said = {
        ...{ action: 'accept', feedback: 'well done', decidedBy: 'p_key_1' },
        decidedAt: expect.stringMatching(/Z$/),
      };
      expect(completed).toMatchObject({ outputs: { answer: said } });
      expect(resumed).toMatchObject({ nodeId: GATE, resumeValue: said });
      if (isV1) {
        expect(received).toEqual({ nodeId: GATE, ...said });
        expect(granted).toEqual({
          ...{ gateId: GATE, principal: 'p_key_1' },
          quorumProgress: { approvals: 1, rejections: 0, required: 1 },
        });
        expect(settled).toMatchObject({ nodeId: GATE, kind: 'approval', resumeValue: said, resolvedBy: 'p_key_1' });
      } else {
        const resolvedBy = expect.objectContaining({ subjectId: 'p_key_1', tenant: 'acme' });
        expect(settled).toEqual({
          ...{ nodeId: GATE, interruptId: expect.stringMatching(/^acme\/int_/), kind: 'approval', resumeValue: said },
          ...{ resolvedBy, decision: 'granted', action: 'accept' },
        });
        expect(granted).toMatchObject({ nodeId: GATE, kind: 'approval', decision: 'granted', resolvedBy });
      }
    });

    test('fails after a rejection', async () => {
      const runId = await waiting();
      await answer(runId, reject);
      const { error } = await until(runId, 'failed');
      expect(error.code).toBe('approval_rejected');
      expect((await log(runId)).at(-1)?.payload).toMatchObject({ failedNodeId: GATE });
    });

    test('asks again after an answer with refine', async () => {
      const runId = await waiting();
      const refineFeedback = { scope: 'whole', text: 'shorter' };
      expect((await answer(runId, { resumeValue: { action: 'refine', refineFeedback } })).status).toBe(200);
      await eventually(async () => (await types(runId)).filter((type) => type === 'interrupt.requested').length === 2);
      await answer(runId, accept);
      await until(runId, 'completed');
    });

    test('a question in return leaves the run waiting, and is in the log', async () => {
      const runId = await waiting();
      const asked = await answer(runId, { resumeValue: { action: 'ask', feedback: 'who wrote it?' } });
      expect(asked).toMatchObject({ status: 200, body: { status: 'waiting-approval' } });
      expect((await log(runId)).at(-1)).toMatchObject({ type: 'log.appended', payload: { message: 'who wrote it?' } });
      await answer(runId, accept);
      await until(runId, 'completed');
    });

    test('accepts decision and edit of older clients', async () => {
      const [approved, edited] = [await waiting(), await waiting()];
      expect((await answer(approved, { resumeValue: { decision: 'approved' } })).status).toBe(200);
      await until(approved, 'completed');
      const edit = { resumeValue: { action: 'edit', editedArtifactData: { text: 'better' } } };
      expect((await answer(edited, edit)).status).toBe(200);
      await until(edited, 'completed');
      expect((await log(edited)).at(-1)?.payload).toMatchObject({ outputs: { answer: { action: 'edit-accept' } } });
    });
  });

  test.each([
    ['no resumeValue', {}],
    ['something beside it', { ...accept, by: 'me' }],
    ['an action that there is not', { resumeValue: { action: 'dance' } }],
    ['a timeout, which no caller can send', { resumeValue: { action: 'timeout' } }],
    ['a decision that there is not', { resumeValue: { decision: 'maybe' } }],
    ['no refineFeedback for refine', { resumeValue: { action: 'refine' } }],
    ['no editedArtifactData for edit-accept', { resumeValue: { action: 'edit-accept' } }],
    ['somebody by their address', { resumeValue: { action: 'accept', decidedBy: 'ann@example.com' } }],
    ['no object', { resumeValue: 'accept' }],
  ])(
    `${covers('interrupts.approval.bad-answer')} rejects an answer with %s, and the run keeps waiting`,
    async (_title, body) => {
      const runId = await waiting();
      expect(await answer(runId, body)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
      expect((await read(runId)).status).toBe('waiting-approval');
      await act(runId, '/cancel');
    },
  );

  test(covers('interrupts.approval.once'), async () => {
    const runId = await waiting();
    const answers = await Promise.all([accept, reject, accept, reject].map((body) => answer(runId, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    for (const { status, body } of answers) if (status === 409) expect(body.error).toBe('interrupt_already_resolved');
    await until(runId, 'completed', 'failed');
    expect((await types(runId)).filter((type) => type === 'interrupt.resolved').length).toBe(1);
    expect((await answer(runId, accept)).body.error).toBe('interrupt_already_resolved');
  });

  test('rejects an answer without the scope or the workspace', async () => {
    const runId = await waiting();
    expect(await answer(runId, accept, READER)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    expect(await answer(runId, accept, DEV)).toMatchObject({ status: 403, body: { error: 'run_forbidden' } });
    expect((await answer(runId, accept, OTHER_TENANT)).status).toBe(isV1 ? 404 : 403);
    const elsewhere = await act(runId, '/interrupts/other', accept);
    expect(elsewhere).toMatchObject({ status: 404, body: { error: isV1 ? 'interrupt_not_found' : 'not_found' } });
    await answer(runId, accept);
    await until(runId, 'completed');
  });

  test(covers('interrupts.approval.approvers'), async () => {
    const runId = await waiting({ approvers: ['p_key_3'] });
    const refused = await answer(runId, accept);
    expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    // A caller who may not answer cannot make a token, either.
    expect((await tokenFor(runId)).status).toBe(403);
    expect((await answer(runId, { resumeValue: { action: 'accept', decidedBy: 'p_key_3' } })).status).toBe(403);
    expect((await read(runId)).status).toBe('waiting-approval');
    expect((await answer(runId, accept, WIDE)).status).toBe(200);
    await until(runId, 'completed');
  });

  test(covers('interrupts.approval.quorum'), async () => {
    const approvers = ['p_key_1', 'p_key_3'];
    const runId = await waiting({ approvers, requiredApprovals: 2 });
    expect((await answer(runId, accept)).body.status).toBe('waiting-approval');
    // A second answer of the same principal does not count.
    expect((await answer(runId, accept)).body.status).toBe('waiting-approval');
    expect((await answer(runId, accept, WIDE)).body.status).toBe('running');
    await until(runId, 'completed');
    const vetoed = await waiting({ approvers, requiredApprovals: 2 });
    await answer(vetoed, accept);
    await answer(vetoed, reject, WIDE);
    await until(vetoed, 'failed');
  });

  test(covers('interrupts.approval.timeout-rejects'), async () => {
    const runId = await start('approval', { timeoutMs: 300 });
    const { error } = await until(runId, 'failed');
    expect(error).toMatchObject({ code: 'approval_rejected', message: 'The approval was not answered in time.' });
    const events = await log(runId);
    const received = events.find(({ type }) => type === 'approval.received')?.payload;
    expect(JSON.stringify(received)).toContain('"action":"timeout"');
    expect((await answer(runId, accept)).status).toBe(409);
  });

  test('rejects an answer to a cancelled run', async () => {
    const runId = await waiting();
    expect((await act(runId, '/cancel')).body.status).toBe('cancelled');
    const late = await answer(runId, accept);
    if (isV1) expect(late).toMatchObject({ status: 422, body: { error: 'interrupt_cancelled' } });
    else expect(late).toMatchObject({ status: 409, body: { error: 'interrupt_already_resolved' } });
  });

  test('refuses to pause a run that waits', async () => {
    const runId = await waiting();
    expect(await act(runId, ':pause')).toMatchObject({
      status: 409,
      body: { error: 'run_state_conflict', details: { runStatus: 'waiting-approval' } },
    });
    await act(runId, '/cancel');
  });

  describe(covers('interrupts.token.forms'), () => {
    const bare = (url: string, options: { method?: string; body?: object } = {}) =>
      host.call(spoken.base + url, { major: spoken.major, key: 'none', ...options });

    test.each([1, 2])('of major %s reads and answers the question without a credential', async (form) => {
      const runId = await waiting({ title: 'Publish?' });
      const { status, body } = await tokenFor(runId, { form });
      expect(status).toBe(201);
      expect(body.token.split('.').length).toBe(form === 1 ? 2 : 5);
      const response = await fetch(`${host.url()}${spoken.base}/interrupts/${body.token}`, {
        headers: { 'svc-version': spoken.major },
      });
      expect(response.status).toBe(200);
      const question = await response.json();
      expect(question).toMatchObject({ kind: 'approval', key: 'round-1', data: { title: 'Publish?' } });
      expect(Object.keys(question).sort()).toEqual(
        isV1 ? ['data', 'interruptId', 'key', 'kind', 'nodeId', 'requestedAt', 'runId'] : ['data', 'key', 'kind'],
      );
      const answered = await fetch(`${host.url()}${spoken.base}/interrupts/${body.token}`, {
        method: 'POST',
        headers: { 'svc-version': spoken.major, 'content-type': 'application/json' },
        body: JSON.stringify(accept),
      });
      expect([answered.status, await answered.json()]).toEqual([200, { runId, nodeId: GATE, status: 'running' }]);
      await until(runId, 'completed');
      // Both a read and an answer come too late.
      expect(await bare(`/interrupts/${body.token}`)).toMatchObject({
        status: 409,
        body: { error: 'interrupt_already_resolved' },
      });
    });

    test('a token with the intent inspect cannot answer', async () => {
      const runId = await waiting();
      const { body } = await tokenFor(runId, { intent: 'inspect' });
      expect((await bare(`/interrupts/${body.token}`)).status).toBe(200);
      const refused = await bare(`/interrupts/${body.token}`, { body: accept });
      expect(refused).toMatchObject({ status: 403, body: { error: 'forbidden' } });
      await act(runId, '/cancel');
    });

    test('an expired token is answered 410', async () => {
      const runId = await waiting();
      const { body } = await tokenFor(runId, { lifetimeSeconds: 1 });
      await eventually(async () => (await bare(`/interrupts/${body.token}`)).status === 410);
      for (const options of [{}, { body: accept }]) {
        expect(await bare(`/interrupts/${body.token}`, options)).toMatchObject({
          status: 410,
          body: { error: 'interrupt_expired' },
        });
      }
      await act(runId, '/cancel');
    });

    test('any other text is refused', async () => {
      const runId = await waiting();
      const [modern, legacy] = [(await tokenFor(runId)).body.token, (await tokenFor(runId, { form: 1 })).body.token];
      const [prefix, , kid, payload = '', mac = ''] = modern.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
      const forged = Buffer.from(JSON.stringify({ ...claims, interruptId: UNKNOWN })).toString('base64url');
      const changed = (text: string) => `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`;
      for (const token of [
        ...['none', 'a.b', 'a.b.c.d.e', `${payload}.${mac}`, changed(modern), changed(legacy)],
        ...[`${prefix}.none.${kid}.${payload}.`, `${prefix}.hs256.00000000.${payload}.${mac}`],
        ...[`${prefix}.hs256.${kid}.${forged}.${mac}`, `${forged}.${legacy.split('.')[1]}`, `${modern}.x`],
      ]) {
        for (const options of [{}, { body: accept }]) {
          const answered = await bare(`/interrupts/${token}`, options);
          expect(answered, token).toMatchObject({
            status: 401,
            body: { error: isV1 ? 'unauthenticated' : 'interrupt_token_invalid' },
          });
          expect(answered.headers.get('www-authenticate')).toMatch(/^Bearer/);
        }
      }
      await act(runId, '/cancel');
    });

    test('an answer by token is recorded as of the caller who made the token', async () => {
      const runId = await waiting({ approvers: ['p_key_3'] });
      const { body } = await tokenFor(runId, {}, WIDE);
      expect((await bare(`/interrupts/${body.token}`, { body: accept })).status).toBe(200);
      await until(runId, 'completed');
      expect((await log(runId)).at(-1)?.payload).toMatchObject({ outputs: { answer: { decidedBy: 'p_key_3' } } });
      // No record contains a token.
      expect(host.stderr().join('\n')).not.toContain(body.token);
    });
  });
});

// One kill for both majors: a boot of a process takes longer than the test.
test('a waiting run still waits after its host was killed, and continues with the answer', async () => {
  const drivers = MAJORS.map((spoken) => runDriver(() => host, spoken));
  const runs = await host.killAfter(() =>
    Promise.all(
      drivers.map(async (driver) => {
        const runId = await driver.start('approval');
        await driver.until(runId, 'waiting-approval');
        return { driver, runId };
      }),
    ),
  );
  const before = await Promise.all(
    runs.map(async ({ driver, runId }) => {
      expect((await driver.read(runId)).status).toBe('waiting-approval');
      return driver.types(runId);
    }),
  );
  await host.killAfter(async () => {
    for (const [index, { driver, runId }] of runs.entries()) {
      expect(await driver.types(runId)).toEqual(before[index]);
      expect((await driver.act(runId, `/interrupts/${GATE}`, accept)).status).toBe(200);
    }
  });
  for (const { driver, runId } of runs) {
    await driver.until(runId, 'completed');
    const after = await driver.types(runId);
    expect(after.filter((type) => type === 'interrupt.requested').length).toBe(1);
    expect(after.filter((type) => type === 'run.completed').length).toBe(1);
    expect(driver.path(runId)).toContain('run_');
    expect((await driver.call(driver.path(runId))).status).toBe(200);
  }
});
