import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../tools/postgres.ts';
import { printTable } from '../table.mjs';

const MAIN = fileURLToPath(new URL('../../examples/reference-host/dist/main.js', import.meta.url));
const ADMIN = 'operator_brought_key_that_manages_the_keys_';
const REVOCATIONS = 1000;
const WORKERS = 4;
const GOAL_MS = 100;
/** The pauses between two requests of a client, in ms: none saturates the machine, which then measures its own queue. */
const PAUSES_MS = [10, 0];

/**
 * Measures the time from a revocation to its answer, with one, two and four hosts on one PostgreSQL, while the keys are in
 * use on every host. After each answer, every host is asked: the goal is that none accepts the key, and a p99 of 100 ms with
 * four hosts. Four clients use the keys on each host, with a pause between two requests, and without one.
 */
export default async function revoke({ revocations = REVOCATIONS } = {}) {
  const postgres = await startPostgres({ flushes: true });
  const found = [];
  try {
    for (const pauseMs of PAUSES_MS) {
      for (const count of [1, 2, 4]) found.push(await measured(postgres.url, { count, revocations, pauseMs }));
    }
  } finally {
    await postgres.stop();
  }
  printTable(
    [
      'hosts',
      'pause ms',
      'revocations',
      'accepted after the answer',
      'median ms',
      'p99 ms',
      'requests per second beside',
    ],
    found.map(({ count, pauseMs, late, median, p99, perSecond }) =>
      [count, pauseMs, revocations, late, median.toFixed(1), p99.toFixed(1), perSecond.toFixed(0)].map(String),
    ),
  );
  return { goal: GOAL_MS, found };
}

async function measured(url, { count, revocations, pauseMs }) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-revoke-'));
  const hosts = [];
  try {
    for (let index = 0; index < count; index += 1) hosts.push(await boot(url, join(folder, `${index}.json`)));
    return { pauseMs, ...(await revokeAll(hosts, revocations, pauseMs)) };
  } finally {
    await Promise.all(hosts.map((host) => host.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function revokeAll(hosts, revocations, pauseMs) {
  const startedAt = performance.now();
  const times = [];
  let [late, next, requests] = [0, 0, 0];
  const at = (index) => hosts[index % hosts.length].url;
  const accepted = async (host, key) => {
    requests += 1;
    const response = await fetch(`${host.url}/v1/runs/absent`, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    return response.status === 404;
  };
  const worker = async () => {
    for (let index = next++; index < revocations; index = next++) {
      const { key, apiKey } = await post(`${at(index)}/host/example/keys`, { name: 'k', scopes: ['runs:read'] });
      await Promise.all(hosts.map((host) => accepted(host, key)));
      let isOver = false;
      const load = hosts.map(async (host) => {
        while (!isOver) {
          await accepted(host, key);
          if (pauseMs > 0) await sleep(pauseMs);
        }
      });
      const began = performance.now();
      await post(`${at(index + 1)}/host/example/keys/${apiKey.id}/revoke`);
      times.push(performance.now() - began);
      for (const isAccepted of await Promise.all(hosts.map((host) => accepted(host, key)))) if (isAccepted) late += 1;
      isOver = true;
      await Promise.all(load);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  times.sort((a, b) => a - b);
  const quantile = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  const perSecond = requests / ((performance.now() - startedAt) / 1000);
  return { count: hosts.length, late, median: quantile(0.5), p99: quantile(0.99), perSecond };
}

async function post(url, body) {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

async function boot(url, file) {
  const scopes = ['keys:manage', 'runs:read'];
  const apiKeys = [{ id: 'admin', key: ADMIN, tenant: 'acme', workspaces: ['*'], principal: 'p_admin', scopes }];
  const secretKey = Buffer.alloc(32, 7).toString('base64');
  const tenants = [{ id: 'acme', workspaces: ['acme-prod'] }];
  writeFileSync(file, JSON.stringify({ listen: { port: 0 }, store: url, secretKey, tenants, apiKeys }));
  const child = spawn(process.execPath, [MAIN, '--config', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    return {
      url: JSON.parse(line).url,
      stop() {
        child.kill('SIGTERM');
        return ended;
      },
    };
  }
  throw new Error('The host did not become ready.');
}
