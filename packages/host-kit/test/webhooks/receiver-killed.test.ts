import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { egressPolicy } from '@svc/egress-guard';
import { createHost, type Host } from '@svc/host-kit';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, expect, test } from 'vitest';

const KEY = 'operator-key-of-the-killed-receiver-012345';

/**
 * A receiver with a database. It prints its port, and then each event that its handler begins or has handled. A claim is
 * shorter than the default, as the test waits for it in real time.
 */
const RECEIVER = `
  import { createServer } from 'node:http';
  import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
  import { receiver as nodeReceiver } from '@svc/webhook-verify/node';
  const [database, port, hangs] = process.argv.slice(1);
  const receive = nodeReceiver({
    secret: () => process.env.SECRET,
    dedup: sqliteDedupStore(database, { claimSeconds: 3 }),
    async onDelivery({ eventType }) {
      console.log('began ' + eventType);
      if (hangs === 'hangs') await new Promise(() => {});
      console.log('handled ' + eventType);
    },
  });
  const server = createServer(receive);
  server.listen(Number(port), '127.0.0.1', () => console.log('port ' + server.address().port));
`;

let folder: string;
let host: Host | undefined;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-killed-receiver-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) await killed(child);
  await host?.stop(0);
  host = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Starts a process of the receiver, and resolves with its port and the lines that it prints from then on. */
async function startReceiver({ port = 0, secret = '', hangs = false } = {}) {
  const program = ['--conditions=@svc/source', '--input-type=module', '--eval', RECEIVER];
  const child = spawn(
    process.execPath,
    [...program, join(folder, 'receiver.db'), String(port), hangs ? 'hangs' : 'handles'],
    { cwd: import.meta.dirname, env: { ...process.env, SECRET: secret }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines[0]).toMatch(/^port /);
  return { child, lines, port: Number(lines[0]?.slice('port '.length)) };
}

/** Starts a host on this port's receiver, with the kit's defaults for deliveries. */
async function startHost(port: number) {
  const scopes = ['runs:create', 'webhooks:manage'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['main'], principal: 'p_1', scopes };
  const made = createHost({
    store: sqliteStore(join(folder, 'host.db')),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, mode: 'live' }]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    egress: egressPolicy({ allowLoopback: [port] }),
  });
  host = made;
  await made.start();
  return async (path: string, body?: object) => {
    const request = new Request(`http://host.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const response = await made.fetch(request);
    expect(response.status).toBeLessThan(300);
    return response.json();
  };
}

test(`${covers('webhooks.durable.at-least-once')} A receiver is killed within its handler`, async () => {
  // The secret is known after the registration, which needs the port.
  const reserved = await startReceiver();
  await killed(reserved.child);
  const { port } = reserved;
  const call = await startHost(port);
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { webhookId, secret } = await call('/v1/webhooks', { url, events: ['run.completed'], tenantId: 'main' });

  const first = await startReceiver({ port, secret, hangs: true });
  await call('/v1/runs', { workflowId: 'any' });
  await expect.poll(() => first.lines).toContain('began run.completed');
  await killed(first.child);

  const second = await startReceiver({ port, secret });
  await expect.poll(() => second.lines).toContain('handled run.completed');
  expect(second.lines.slice(1)).toEqual(['began run.completed', 'handled run.completed']);
  const view = `/host/example/webhooks/${webhookId}`;
  await expect.poll(async () => (await call(view)).lastAttempts[0]).toMatchObject({ outcome: 'delivered' });
  const { deliveries } = await call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=main`);
  expect(deliveries).toEqual([]);
});
