import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { createInterface } from 'node:readline';

/** An operator of the tenant acme. */
export const KEY = 'operator_brought_key_of_enough_characters';
/** An operator of another tenant of the same host. */
export const OTHER_KEY = 'another_tenants_key_of_enough_characters';

const SCOPES = [
  ...['runs:create', 'runs:read', 'runs:cancel', 'artifacts:read', 'approvals:respond', 'webhooks:manage'],
  ...['manifest:read', 'audit:read', 'keys:manage', 'roles:manage'],
];

const ROLES = {
  roles: [
    { role: 'administrator', scopes: SCOPES },
    { role: 'reader', scopes: ['runs:read'] },
  ],
  assignments: [
    { principal: 'p_ada', workspace: 'acme-prod', role: 'administrator' },
    { principal: 'p_eve', workspace: 'globex-prod', role: 'administrator' },
  ],
};

/**
 * Boots the reference host of the checkout with the console.
 *
 * @param {{ roles?: boolean }} [options] `roles`: roles decide beside scopes, and both operators are administrators
 * @returns {Promise<{ url: string, call(method: string, path: string, body?: object, key?: string): Promise<any>, stop(): Promise<void> }>}
 */
export async function bootHost({ roles = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-console-'));
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ ...configuration(folder), ...(roles && { authorization: ROLES }) }));
  const main = join(env.SVC_CHECKOUT, 'examples/reference-host/dist/main.js');
  const child = spawn(execPath, [main, '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const log = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line);
    return { url, stop, call: (...asked) => call(url, ...asked) };
  }
  await stop();
  throw new Error(`The host did not become ready: ${log.join('\n')}`);
}

async function call(url, method, path, body, key = KEY) {
  const headers = { authorization: `Bearer ${key}`, 'svc-version': '2', 'content-type': 'application/json' };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(url + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

function configuration(folder) {
  const tenant = (id, key, principal) => ({
    ...{
      id: `key_${id}`,
      key,
      tenant: id,
      workspaces: [`${id}-prod`],
      principal,
      scopes: SCOPES,
      name: `Operators of ${id}`,
    },
  });
  return {
    listen: { port: 0 },
    store: `sqlite:${join(folder, 'svc.db')}`,
    tenants: [
      { id: 'acme', workspaces: ['acme-prod'] },
      { id: 'globex', workspaces: ['globex-prod'] },
    ],
    apiKeys: [tenant('acme', KEY, 'p_ada'), tenant('globex', OTHER_KEY, 'p_eve')],
    console: true,
    portal: true,
    audit: { checkpointIntervalSeconds: 1 },
    egress: { allowLoopback: true },
    webhooks: {
      durable: true,
      retryPolicy: { maxAttempts: 2, backoff: 'fixed', delayMs: 50, maxDelayMs: 50 },
    },
  };
}

/**
 * Starts a receiver on this machine. It answers with `status`, which a test changes.
 *
 * @returns {Promise<{ url: string, status: number, received: number, signatures: number, stop(): void }>} `signatures` counts
 * those of the last delivery, by Standard Webhooks
 */
export async function startReceiver(path = '/hooks') {
  const receiver = { url: '', status: 200, received: 0, signatures: 0, stop: () => {} };
  const server = createServer(async (request, response) => {
    const { challenge } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    // The question of the host at the registration of a subscription with Standard Webhooks.
    if (challenge !== undefined) return response.end(JSON.stringify({ challenge }));
    receiver.received += receiver.status === 200 ? 1 : 0;
    receiver.signatures = String(request.headers['webhook-signature'] ?? '').match(/v1,/g)?.length ?? 0;
    return response.writeHead(receiver.status).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${server.address().port}${path}`;
  receiver.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return receiver;
}

/** Waits until `read` returns a value, for at most 30 s. */
export async function eventually(what, read) {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    const found = await read();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what}: did not happen within 30 s.`);
}
