import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

describe.each(MAJORS)('in $name', (spoken) => {
  const driver = runDriver(() => host, spoken);
  const annotate = (runId: string, body: object, key?: string, headers = {}) =>
    driver.call(driver.path(runId, '/annotations'), { body, headers, ...(key && { key }) });
  const list = (runId: string, key?: string) => driver.call(driver.path(runId, '/annotations'), key ? { key } : {});

  async function ended(): Promise<string> {
    const runId = await driver.start('echo');
    await driver.until(runId, 'completed');
    return runId;
  }

  test(`a run is annotated after its end: ${covers('operations.annotations.stored')}`, async () => {
    const runId = await ended();
    const log = await driver.log(runId);
    const signals = [
      { kind: 'rating', rating: 1 },
      { kind: 'correction', correction: 'Better so.' },
      { kind: 'label', label: 'off-brand' },
      { kind: 'flag' },
    ];
    const target = { eventId: 'evt_0123456789abcdef', nodeId: 'echo' };
    const made = [];
    for (const signal of signals) made.push((await annotate(runId, { signal, target, note: 'why' })).body);
    for (const [index, signal] of signals.entries()) {
      expect(made[index]).toEqual({
        annotationId: expect.stringMatching(/^ann_/),
        target: { runId, ...target },
        signal,
        actor: { principalRef: 'p_key_1' },
        note: 'why',
        createdAt: expect.stringMatching(/Z$/),
      });
    }
    expect((await list(runId)).body).toEqual({ annotations: made });
    expect(await driver.log(runId)).toEqual(log);
    const fork = (await driver.act(runId, ':fork', { mode: 'replay' })).body.runId;
    expect((await list(fork)).body).toEqual({ annotations: [] });
  });

  test(`a secret is not stored: ${covers('operations.annotations.redacted')}`, async () => {
    const runId = await ended();
    const secrets = [
      'sk-abcdefghijklmnop',
      'ghp_0123456789abcdefghijABCD',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
      'Bearer abcdefghijklmnop0123',
      'AKIAABCDEFGHIJKLMNOP',
    ];
    for (const secret of secrets) {
      const { body } = await annotate(runId, {
        signal: { kind: 'correction', correction: `a ${secret} b` },
        note: secret,
      });
      expect([body.signal.correction, body.note]).toEqual(['a [redacted] b', '[redacted]']);
    }
    const { body } = await annotate(runId, { signal: { kind: 'label', label: 'a task-list of a risk_model' } });
    expect(body.signal.label).toBe('a task-list of a risk_model');
    const database = new DatabaseSync(host.path('svc.db'), { timeout: 10_000, readOnly: true });
    const stored = JSON.stringify(database.prepare('SELECT document FROM annotations').all());
    database.close();
    for (const secret of secrets) expect(stored).not.toContain(secret);
  });

  test.each([
    ['no signal', {}],
    ['an unknown kind', { signal: { kind: 'applause' } }],
    ['a rating above 5', { signal: { kind: 'rating', rating: 6 } }],
    ['a fraction', { signal: { kind: 'rating', rating: 1.5 } }],
    ['the value of another kind', { signal: { kind: 'flag', label: 'x' } }],
    ['a malformed event', { signal: { kind: 'flag' }, target: { eventId: 'short' } }],
    ['an unknown member', { signal: { kind: 'flag' }, more: 1 }],
  ])('an annotation with %s is rejected', async (_, body) => {
    const runId = await ended();
    expect(await annotate(runId, body)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    expect((await list(runId)).body).toEqual({ annotations: [] });
  });

  test('a repeated request with an idempotency key makes one annotation', async () => {
    const runId = await ended();
    const headers = { 'idempotency-key': `annotation-${spoken.major}-0123456789abcdef` };
    const [first, again] = [
      await annotate(runId, { signal: { kind: 'flag' } }, undefined, headers),
      await annotate(runId, { signal: { kind: 'flag' } }, undefined, headers),
    ];
    expect(again.body).toEqual(first.body);
    expect((await list(runId)).body.annotations).toHaveLength(1);
  });

  test('annotations belong to the workspace of their run, and need their scope', async () => {
    const runId = await ended();
    const flag = { signal: { kind: 'flag' } };
    expect((await annotate(runId, flag, READER)).body.error).toBe('forbidden');
    expect((await list(runId, READER)).status).toBe(200);
    expect((await annotate(runId, flag, DEV)).body.error).toBe('run_forbidden');
    expect((await list(runId, DEV)).body.error).toBe('run_forbidden');
    const elsewhere = spoken.major === '1' ? 'not_found' : 'id_tenant_mismatch';
    expect((await list(runId, OTHER_TENANT)).body.error).toBe(elsewhere);
    expect((await annotate(runId, flag, OTHER_TENANT)).body.error).toBe(elsewhere);
  });

  test('discovery advertises the served targets and signals', async () => {
    const { feedback } = (await host.call('/.well-known/svc', { major: spoken.major })).body;
    expect(feedback).toMatchObject({
      targets: ['run', 'event', 'node'],
      signals: ['rating', 'correction', 'label', 'flag'],
    });
  });

  test(`an optional operation that is not served is answered 404: ${covers('operations.routes.optional')}`, async () => {
    const runId = await ended();
    for (const what of [`:diff?against=${spoken.segment(runId)}`, '/ancestry']) {
      expect(await driver.call(driver.path(runId, what))).toMatchObject({ status: 404, body: { error: 'not_found' } });
    }
  });
});

test('an annotation is recorded in the audit log without its content', async () => {
  const driver = runDriver(() => host, MAJORS[1]);
  const runId = await driver.start('echo');
  const made = await driver.call(driver.path(runId, '/annotations'), {
    body: { signal: { kind: 'label', label: 'told-to-nobody' } },
  });
  const database = new DatabaseSync(host.path('svc.db'), { timeout: 10_000, readOnly: true });
  const entries = database
    .prepare('SELECT * FROM audit_entries')
    .all()
    .map((entry) => JSON.stringify(entry));
  database.close();
  const fact = entries.filter((entry) => entry.includes('run.annotate')).filter((entry) => entry.includes(runId));
  expect(fact).toHaveLength(1);
  expect(fact[0]).toContain(made.body.annotationId);
  expect(entries.join()).not.toContain('told-to-nobody');
});
