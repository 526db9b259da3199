import { createServer, type Server } from 'node:http';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, BYOK, FILES, startAcme } from './acme-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

const SECRET = 'sk-of-the-tenant-0123456789';

let host: AcmeHost;
/** Its runs have a short time. */
let brief: AcmeHost;
let echo: Server;
let port: number;
beforeAll(async () => {
  // Shows its caller the credential that it got.
  echo = createServer((request, response) => response.end(`got ${request.headers.authorization}`));
  port = await new Promise<number>((resolve) => {
    echo.listen(0, '127.0.0.1', () => {
      const address = echo.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  host = await startAcme({}, { egress: { allowLoopback: [port] }, limits: { maxNodeExecutions: 20 } });
  // No other run is in time on a busy machine.
  brief = await startAcme({}, { limits: { maxRunDurationMs: 2000 } });
});
afterAll(async () => {
  await host.stop();
  await brief.stop();
  echo.close();
});

describe.each(MAJORS)('in $name', (spoken) => {
  const driver = runDriver(() => host, spoken);
  const briefly = runDriver(() => brief, spoken);
  const { major } = spoken;

  test('a run uses a secret of its tenant, and shows it nowhere', async () => {
    const value = { value: SECRET };
    await host.call('/host/example/byok/secrets/service', { method: 'PUT', key: BYOK, body: value });
    const runId = await driver.start('fetch', { url: `http://127.0.0.1:${port}/`, bearer: 'service' });
    expect(await driver.until(runId, 'completed', 'failed')).toMatchObject({ status: 'completed' });
    const log = await driver.log(runId);
    expect(log.at(-1)?.payload).toMatchObject({ outputs: { body: 'got Bearer [REDACTED:service]' } });
    expect(JSON.stringify([log, host.stderr()])).not.toContain(SECRET);
    const none = await driver.start('fetch', { url: `http://127.0.0.1:${port}/`, bearer: 'none' });
    expect((await driver.until(none, 'failed')).error.code).toBe('credential_required');
  });

  test('a run writes a file of its workspace and records it, and a request records nothing', async () => {
    const path = `note-${major}.md`;
    // Major 2 has no operation for files.
    const file = `/v1/host/workspace/files/${path}`;
    const body = { content: 'first\n' };
    expect((await host.call(file, { method: 'PUT', key: FILES, body })).status).toBe(200);
    const runId = await driver.start('note', { path, line: 'second' });
    expect((await driver.until(runId, 'completed', 'failed')).status).toBe('completed');
    const log = await driver.log(runId);
    const updates = log.filter(({ type }) => type === 'workspace.updated');
    expect(updates.map(({ payload }) => payload)).toEqual([{ path, version: 2 }]);
    expect(log.at(-1)?.payload).toMatchObject({ outputs: { before: 1, after: 2 } });
    expect((await host.call(file, { key: FILES })).body.content).toBe('first\nsecond\n');
  });

  test(`the limits of runs are those that discovery advertises: ${covers('limits.discovery.values-as-enforced')}`, async () => {
    const { body } = await host.call('/.well-known/svc', { major });
    expect(body.limits).toMatchObject({ maxNodeExecutions: 20, maxRunDurationMs: 600_000 });
    const many = await driver.start('count', { nodes: 21 });
    expect((await driver.until(many, 'failed')).error.code).toBe('recursion_limit_exceeded');
    expect((await driver.log(many)).at(-2)?.payload).toEqual({ kind: 'node-executions', limit: 20, observed: 21 });
    const within = await driver.start('count', { nodes: 20 });
    expect((await driver.until(within, 'completed', 'failed')).status).toBe('completed');
  });

  test('a run that takes longer than the advertised duration fails', async () => {
    const { body } = await brief.call('/.well-known/svc', { major });
    expect(body.limits).toMatchObject({ maxNodeExecutions: 1000, maxRunDurationMs: 2000 });
    const long = await briefly.start('delay', { ms: 60_000 });
    expect((await briefly.until(long, 'failed')).error.code).toBe('run_timeout');
    expect((await briefly.log(long)).at(-2)).toMatchObject({ type: 'cap.breached', payload: { kind: 'run-duration' } });
  });
});
