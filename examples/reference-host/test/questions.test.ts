import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true }, { limits: { clarificationRounds: 2 } });
});
afterAll(() => host.stop());

describe.each(MAJORS)('in $name', (spoken) => {
  const { start, act, until, log, types, read } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';

  async function waiting(workflowId: string, status: string, inputs: object = {}): Promise<string> {
    const runId = await start(workflowId, inputs);
    await until(runId, status);
    return runId;
  }
  const answer = (runId: string, nodeId: string, resumeValue: unknown, options: object = {}) =>
    act(runId, `/interrupts/${nodeId}`, { resumeValue }, options);

  async function subscribed(events: readonly string[]): Promise<string> {
    const body = { url: host.receiver.url, events, ...(isV1 && { tenantId: 'acme-prod' }) };
    const registered = await host.call(`${spoken.base}/webhooks`, { body, major: spoken.major });
    expect(registered.status).toBe(201);
    host.receiver.trust(registered.body.secret);
    return registered.body.webhookId;
  }

  test(covers('interrupts.clarification.waits', 'interrupts.clarification.events'), async () => {
    const webhookId = await subscribed(['clarification.requested', 'clarification.resolved']);
    const runId = await waiting('clarification', 'waiting-input', { question: 'Which colour?' });
    expect((await read(runId)).currentNodeId).toBe('clarification');
    const asked = await log(runId);
    expect(asked.map(({ type }) => type)).toEqual([
      ...['run.started', 'node.started', 'node.suspended', 'interrupt.requested', 'clarification.requested'],
    ]);
    const question = {
      kind: 'clarification',
      key: 'round-1',
      data: { questions: [{ id: 'answer', question: 'Which colour?' }] },
    };
    expect(asked[3]?.payload).toMatchObject(question);
    expect(asked[4]?.payload).toEqual(asked[3]?.payload);

    expect(await answer(runId, 'clarification', { answers: { answer: 'blue' } })).toMatchObject({
      status: 200,
      body: { runId, nodeId: 'clarification', status: 'running' },
    });
    await until(runId, 'completed');
    const resolved = (await log(runId)).slice(5);
    expect(resolved.map(({ type }) => type)).toEqual([
      ...['interrupt.resolved', 'clarification.resolved', 'node.resumed', 'node.completed', 'run.completed'],
    ]);
    expect(resolved[1]?.payload).toMatchObject({
      nodeId: 'clarification',
      resumeValue: { answers: { answer: 'blue' } },
    });
    expect(resolved.at(-1)?.payload).toMatchObject({ outputs: { answers: [{ answers: { answer: 'blue' } }] } });
    await eventually(
      () => host.receiver.deliveries.filter((delivery) => delivery.webhookId === webhookId).length === 2,
    );
    const delivered = host.receiver.deliveries.filter((delivery) => delivery.webhookId === webhookId);
    expect(delivered.map(({ event }) => event.type).toSorted()).toEqual([
      'clarification.requested',
      'clarification.resolved',
    ]);
  });

  describe(covers('interrupts.clarification.answered'), () => {
    test.each([
      ['nested', { answers: { answer: 'red' } }],
      ['plain', { answer: 'red' }],
    ])('an answer within the choices, %s, is accepted', async (_form, resumeValue) => {
      const runId = await waiting('clarification', 'waiting-input', { choices: ['red', 'blue'] });
      expect((await answer(runId, 'clarification', resumeValue)).status).toBe(200);
      await until(runId, 'completed');
    });

    test.each([
      ['another choice', { answers: { answer: 'green' } }, 'resumeValue.answers.answer'],
      ['no answer', {}, 'resumeValue.answer'],
      ['the answer to another question', { answers: { colour: 'red' } }, 'resumeValue.answers.answer'],
      ['no object', 'red', 'resumeValue.answer'],
    ])('%s is rejected, and the run keeps waiting', async (_title, resumeValue, field) => {
      const runId = await waiting('clarification', 'waiting-input', { choices: ['red', 'blue'] });
      const refused = await answer(runId, 'clarification', resumeValue);
      expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
      expect(JSON.stringify(refused.body)).toContain(field);
      expect((await read(runId)).status).toBe('waiting-input');
      await act(runId, '/cancel');
    });

    test('of several answers at once, one counts', async () => {
      const runId = await waiting('clarification', 'waiting-input');
      const answers = await Promise.all(
        ['a', 'b', 'c'].map((text) => answer(runId, 'clarification', { answer: text })),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      const counted = ['a', 'b', 'c'][answers.findIndex(({ status }) => status === 200)];
      await until(runId, 'completed');
      expect((await log(runId)).at(-1)?.payload).toMatchObject({ outputs: { answers: [{ answer: counted }] } });
      expect((await types(runId)).filter((type) => type === 'clarification.resolved').length).toBe(1);
    });

    test('without the scope, the workspace or the tenant is refused', async () => {
      const runId = await waiting('clarification', 'waiting-input');
      const by = async (key: string) => (await answer(runId, 'clarification', { answer: 'a' }, { key })).status;
      expect([await by(READER), await by(DEV), await by(OTHER_TENANT)]).toEqual([403, 403, isV1 ? 404 : 403]);
      expect((await read(runId)).status).toBe('waiting-input');
      await act(runId, '/cancel');
    });
  });

  test(covers('interrupts.clarification.rounds', 'limits.discovery.values-as-enforced'), async () => {
    const discovered = await host.call('/.well-known/svc', { major: spoken.major });
    expect(discovered.body.limits.clarificationRounds).toBe(2);
    const runId = await waiting('clarification', 'waiting-input', { rounds: 3 });
    await answer(runId, 'clarification', { answer: 'first' });
    await eventually(async () => (await types(runId)).filter((type) => type === 'interrupt.requested').length === 2);
    await answer(runId, 'clarification', { answer: 'second' });
    expect((await until(runId, 'failed')).error.code).toBe('loop_limit_exceeded');
    expect((await log(runId)).at(-2)).toMatchObject({
      type: 'cap.breached',
      payload: { kind: 'clarification', limit: 2, observed: 3 },
    });
  });

  describe(covers('interrupts.external-event.waits', 'interrupts.external-event.delivered'), () => {
    const paid = { eventType: 'payment.settled', correlation: { order: 'o-42' } };

    test('the run waits for the event, and completes with it', async () => {
      const runId = await waiting('external-event', 'waiting-external', paid);
      const asked = (await log(runId)).find(({ type }) => type === 'interrupt.requested');
      expect(asked?.payload).toMatchObject({ kind: 'external-event', data: paid });
      expect(await answer(runId, 'external-event', 'paid')).toMatchObject({ status: 400 });
      expect((await answer(runId, 'external-event', { amount: 5 })).status).toBe(200);
      await until(runId, 'completed');
      expect((await log(runId)).at(-1)?.payload).toMatchObject({ outputs: { event: { amount: 5 } } });
      const again = await answer(runId, 'external-event', { amount: 6 });
      expect(again).toMatchObject({ status: 409, body: { error: 'interrupt_already_resolved' } });
    });

    test('a system without a credential delivers it by a token', async () => {
      const runId = await waiting('external-event', 'waiting-external', paid);
      const bare = runId.slice(runId.indexOf('/') + 1);
      const minted = await host.call(`/host/example/interrupts/${bare}/external-event/tokens`, { body: {} });
      const place = `${spoken.base}/interrupts/${minted.body.token}`;
      const bearer = { major: spoken.major, key: 'none' };
      expect((await host.call(place, bearer)).body).toMatchObject({ kind: 'external-event', data: paid });
      expect((await host.call(place, { ...bearer, body: { resumeValue: { amount: 7 } } })).status).toBe(200);
      await until(runId, 'completed');
      expect((await host.call(place, { ...bearer, body: { resumeValue: { amount: 8 } } })).status).toBe(409);
    });

    test('a repeated delivery with its idempotency key gets the stored reply', async () => {
      const runId = await waiting('external-event', 'waiting-external');
      const headers = { 'idempotency-key': `event-of-${spoken.major}-${Date.now()}` };
      const deliver = () => answer(runId, 'external-event', { amount: 5 }, { headers });
      const [first, second] = [await deliver(), await deliver()];
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.headers.get('svc-idempotent-replay')).toBe('true');
      await until(runId, 'completed');
    });
  });

  describe(covers('interrupts.timeout.no-late-answer'), () => {
    test.each([
      ['clarification', { answer: 'late' }],
      ['external-event', {}],
    ])('%s: the node fails after the timeout, and an answer then is refused', async (workflowId, resumeValue) => {
      const runId = await start(workflowId, { timeoutMs: 200 });
      await until(runId, 'failed');
      expect((await read(runId)).error.code).toBe('sample.unanswered');
      expect((await answer(runId, workflowId, resumeValue)).body.error).toBe('interrupt_already_resolved');
    });

    test('an answer after the timeout is refused before the host has recorded the timeout', async () => {
      const runId = await start('clarification', { timeoutMs: 150 });
      // On a busy machine the timeout is over before the first look.
      await until(runId, 'waiting-input', 'failed');
      await new Promise((resolve) => setTimeout(resolve, 160));
      expect((await answer(runId, 'clarification', { answer: 'late' })).status).toBe(409);
      expect((await until(runId, 'failed')).error.code).toBe('sample.unanswered');
    });

    test('of answers around the timeout and the timeout itself, one counts', async () => {
      const ends = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const runId = await start('external-event', { timeoutMs: 400 });
          await until(runId, 'waiting-external', 'failed');
          await new Promise((resolve) => setTimeout(resolve, 250 + index * 30));
          const { status } = await answer(runId, 'external-event', {});
          const run = await until(runId, 'completed', 'failed');
          const resolved = (await types(runId)).filter((type) => type === 'interrupt.resolved').length;
          return { status, run: run.status, resolved };
        }),
      );
      for (const { status, run, resolved } of ends) {
        expect([status, run]).toEqual(status === 200 ? [200, 'completed'] : [409, 'failed']);
        expect(resolved).toBe(1);
      }
    });
  });
});

// One kill for both majors: a boot of a process takes longer than the test.
test(`${covers('interrupts.clarification.answered', 'interrupts.external-event.waits', 'interrupts.external-event.delivered')} questions and answers outlive kills of the host`, async () => {
  const drivers = MAJORS.map((spoken) => runDriver(() => host, spoken));
  const asked = { clarification: '/interrupts/clarification', event: '/interrupts/external-event' };
  const runs = await host.killAfter(() =>
    Promise.all(
      drivers.map(async (driver) => {
        const asking = await driver.start('clarification', { rounds: 2 });
        await driver.until(asking, 'waiting-input');
        await driver.act(asking, asked.clarification, { resumeValue: { answer: 'first' } });
        const external = await driver.start('external-event');
        await driver.until(external, 'waiting-external');
        return { driver, asking, external };
      }),
    ),
  );
  for (const { driver, external } of runs) {
    expect((await driver.read(external)).status).toBe('waiting-external');
    expect((await driver.act(external, asked.event, { resumeValue: {} })).status).toBe(200);
    await driver.until(external, 'completed');
  }
  await host.killAfter(async () => {
    for (const { driver, asking } of runs) {
      const requests = async () => (await driver.types(asking)).filter((type) => type === 'interrupt.requested');
      await eventually(async () => (await requests()).length === 2);
      await driver.until(asking, 'waiting-input');
      const answered = await driver.act(asking, asked.clarification, { resumeValue: { answer: 'second' } });
      expect(answered.status).toBe(200);
    }
  });
  for (const { driver, asking } of runs) {
    await driver.until(asking, 'completed');
    const outputs = { answers: [{ answer: 'first' }, { answer: 'second' }] };
    expect((await driver.log(asking)).at(-1)?.payload).toMatchObject({ outputs });
  }
});

test('discovery of both majors lists the kinds that the workflows ask', async () => {
  const kinds = ['approval', 'clarification', 'external-event'];
  const [first, second] = await Promise.all(
    ['1', '2'].map((major) => host.call('/.well-known/svc', { major, key: KEY })),
  );
  expect(first?.body.interrupts).toMatchObject({ supported: true, kinds });
  expect(second?.body.interrupt).toMatchObject({ kinds });
  for (const { body } of [first, second].flatMap((answered) => (answered === undefined ? [] : [answered]))) {
    expect(body.fixtures).toEqual(
      expect.arrayContaining(['conformance-clarification', 'conformance-interrupt-external-event']),
    );
  }
});
