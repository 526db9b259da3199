import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AcmeProcess, startAcmeProcess } from './acme-host.ts';
import { eventually, launch } from './booted-host.ts';

let host: AcmeProcess;
beforeEach(async () => {
  host = await startAcmeProcess({ durable: true, retryPolicy: { maxAttempts: 1, backoff: 'none' } });
});
afterEach(() => host.stop());

const run = () => host.call('/v1/runs', { body: { workflowId: 'echo' } });

test.each(['-secret-key', '-audit-key.pem'])(
  'a host whose database came back without its file %s does not start, and makes no other',
  async (suffix) => {
    const { receiver } = host;
    // Nothing gets through, so the deliveries wait in the database.
    const subscription = { url: receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
    const { webhookId, secret } = (await host.call('/v1/webhooks', { body: subscription })).body;
    await host.call(`/host/example/webhooks/${webhookId}/pause`, { method: 'POST' });
    for (let turn = 0; turn < 3; turn++) expect((await run()).status).toBe(201);
    await host.end('SIGTERM');
    const path = host.path(`svc.db${suffix}`);
    renameSync(path, `${path}.lost`);
    const config = JSON.parse(readFileSync(host.path('config.json'), 'utf8'));
    const refused = launch(host.path('config.json'), config);
    expect(await refused.ended).toBe(2);
    // The other lines are the warnings of the test's configuration, in JSON.
    const said = refused.stderr.filter((line) => !line.startsWith('{'));
    expect(said.length).toBe(1);
    expect(said[0]).toContain(`svc.db${suffix}: is missing, and the database is not empty. Restore the file`);
    expect(existsSync(path)).toBe(false);
    copyFileSync(`${path}.lost`, path);
    await host.reboot({});
    receiver.trust(secret);
    await host.call(`/host/example/webhooks/${webhookId}/resume`, { method: 'POST' });
    await eventually(() => receiver.deliveries.length === 3);
    const letters = await host.call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod`);
    expect([letters.status, letters.body.deliveries]).toEqual([200, []]);
  },
);
