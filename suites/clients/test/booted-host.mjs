import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { createInterface } from 'node:readline';

/** A credential with every scope of the host below. */
export const KEY = 'operator_brought_key_of_enough_characters';

/**
 * Boots the reference host of the checkout.
 *
 * @param {object} others further keys of its configuration
 * @param {readonly string[]} nodeOptions options of Node, such as a module to load first
 * @returns {Promise<{ url: string, log: string[], stop(): Promise<void> }>} `log` has the records of the host
 */
export async function bootHost(others = {}, nodeOptions = []) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clients-'));
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ ...configuration(folder), ...others }));
  const main = join(env.SVC_CHECKOUT, 'examples/reference-host/dist/main.js');
  const child = spawn(execPath, [...nodeOptions, main, '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const log = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: child.stdout })) return { url: JSON.parse(line).url, log, stop };
  await stop();
  throw new Error(`The host did not become ready: ${log.join('\n')}`);
}

function configuration(folder) {
  return {
    listen: { port: 0 },
    store: `sqlite:${join(folder, 'svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        id: 'key_1',
        key: KEY,
        tenant: 'acme',
        workspaces: ['acme-prod'],
        principal: 'p_1',
        scopes: [
          ...['runs:create', 'runs:read', 'runs:cancel', 'artifacts:read', 'approvals:respond', 'webhooks:manage'],
          ...['byok:manage', 'manifest:read', 'workspace:read', 'workspace:write', 'audit:read', 'approvals:override'],
        ],
      },
    ],
    egress: { allowLoopback: true },
    mounts: { mcp: true },
  };
}

/** The three API descriptions of a host: of each major, and of its mounts. */
export async function descriptionsOf(url) {
  const read = async (path, headers = {}) => (await fetch(url + path, { headers })).json();
  return {
    v1: await read('/v1/openapi.json'),
    v2: await read('/openapi.json', { 'svc-version': '2' }),
    host: await read('/host/example/openapi.json'),
  };
}

/** Creates a run of `echo`, and waits until it has ended. Returns its id. */
export async function endedRun(url) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'echo', inputs: {} });
  const { runId } = await (await fetch(`${url}/v1/runs`, { method: 'POST', headers, body })).json();
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const { status } = await (await fetch(`${url}/v1/runs/${runId}`, { headers })).json();
    if (status === 'completed') return runId;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The run did not end within 10 s.');
}
