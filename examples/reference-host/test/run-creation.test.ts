import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, startAcme } from './acme-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true });
});
afterAll(() => host.stop());

describe.each(MAJORS)('in $name', (spoken) => {
  const { act, until } = runDriver(() => host, spoken);
  const isV1 = spoken.base === '/v1';
  const prefix = isV1 ? 'X' : 'SVC';

  async function create(body: object, headers: Record<string, string> = {}, key = KEY) {
    const response = await fetch(`${host.url()}${spoken.base}/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'svc-version': spoken.major,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ workflowId: 'delay', inputs: { ms: 60_000 }, ...body }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  test(covers('operations.runs.dedup'), async () => {
    const scopeId = `s-${spoken.major}`;
    const dedup = { [`${prefix}-Dedup`]: 'enforce' };
    const answers = await Promise.all([1, 2, 3, 4].map(() => create({ scopeId }, dedup)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const { runId } = answers.find(({ status }) => status === 201)?.body ?? {};
    for (const { status, headers, body } of answers) {
      if (status === 201) continue;
      expect(body).toMatchObject({ error: 'run_already_active', details: { activeRunId: runId } });
      expect(headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
      expect('retryAfter' in body.details).toBe(isV1);
    }
    // Another scope id, another workspace, and a request without the header each create a run.
    const [other, elsewhere, careless] = [
      await create({ scopeId: `${scopeId}-2` }, dedup),
      await create({ scopeId }, dedup, DEV),
      await create({ scopeId }),
    ];
    expect([other.status, elsewhere.status, careless.status]).toEqual([201, 201, 201]);
    for (const id of [runId, careless.body.runId]) {
      await act(id, '/cancel');
      await until(id, 'cancelled');
    }
    expect((await create({ scopeId }, dedup)).status).toBe(201);
    expect((await create({}, dedup)).status).toBe(400);
    expect((await create({ scopeId }, { [`${prefix}-Dedup`]: 'perhaps' })).status).toBe(400);
  });

  test(covers('operations.runs.force-engine-version'), async () => {
    const forced = { [`${prefix}-Force-Engine-Version`]: '1' };
    expect(await create({}, forced)).toMatchObject({ status: 403, body: { error: 'force_engine_version_forbidden' } });
    expect((await create({}, { [`${prefix}-Force-Engine-Version`]: 'one' })).status).toBe(400);
  });

  test(covers('operations.runs.callback-refused'), async () => {
    const answer = await create({ callbackUrl: 'https://hooks.example.com/answer' });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'validation_error',
        message: 'callbackUrl: is not supported. Register a webhook for interrupt.requested instead',
        details: { field: 'callbackUrl', fields: [{ field: 'callbackUrl' }] },
      },
    });
  });

  test(covers('operations.runs.eval-refused'), async () => {
    const answer = await create({ mode: 'eval', evalSuiteRef: 'suite', agentId: 'agent' });
    expect([answer.status, answer.body.error]).toEqual(
      isV1 ? [501, 'capability_not_provided'] : [400, 'validation_error'],
    );
    expect(answer.body.message).toMatch(/^mode: /);
    expect(await create({ mode: 'live' })).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  });
});

test(covers('operations.runs.timeout'), async () => {
  const { until, start, log } = runDriver(() => host, MAJORS[1]);
  const configurable = { version: 1, run: { runTimeoutMs: 300 } };
  const runId = await start('delay', { ms: 60_000 }, { configurable });
  const { error } = await until(runId, 'failed');
  expect(error.code).toBe('run_timeout');
  const events = await log(runId);
  expect(events.at(-2)).toMatchObject({ type: 'cap.breached', payload: { kind: 'run-duration', limit: 300 } });
});
