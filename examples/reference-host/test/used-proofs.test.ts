import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { covers } from '@svc/tools/covers';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BootedHost, bootHost, scratch } from './booted-host.ts';
import { BASE, prover, signer } from './callers.ts';

const ISSUER = 'https://idp.example.com';
const KEY = 'operator_brought_key_of_enough_characters';
const secretKey = randomBytes(32).toString('base64');
const idp = await signer('idp-1');
const client = await prover();
const folder = scratch();
const booted: BootedHost[] = [];
let postgres: PostgresServer;

beforeAll(async () => {
  writeFileSync(folder.path('idp.json'), JSON.stringify(idp.jwks));
  postgres = await startPostgres();
});
afterAll(async () => {
  for (const host of booted) await kill(host);
  await postgres.stop();
  folder.remove();
});

async function boot(name: string, store: string, changes: object = {}): Promise<BootedHost> {
  const host = await bootHost(folder.path(`${name}.json`), {
    listen: { port: 0 },
    baseUrl: BASE,
    store,
    secretKey,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['runs:read'] }],
    oidc: { issuers: [{ issuer: ISSUER, audience: 'svc', jwksFile: folder.path('idp.json') }] },
    ...changes,
  });
  booted.push(host);
  return host;
}

async function kill(host: BootedHost): Promise<void> {
  host.process.kill('SIGKILL');
  await host.ended;
}

/** Makes a token of a user, bound to the key of the client. */
const tokenOf = (sub: string) =>
  idp.sign(
    {
      ...{ iss: ISSUER, aud: 'svc', sub, scope: 'runs:read', cnf: { jkt: client.thumbprint } },
      ...{ svc_tenant: 'acme', svc_workspaces: ['acme-prod'] },
    },
    { typ: 'at+jwt' },
  );

/** Makes a request with a new proof. It can be sent many times, to any host. */
async function presented(sub = 'u_1') {
  const token = await tokenOf(sub);
  const headers = { authorization: `DPoP ${token}`, dpop: await client.proof('GET', '/v1/runs/run_absent', token) };
  return async (host: BootedHost | undefined) => {
    const response = await fetch(`${host?.url}/v1/runs/run_absent`, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}

/** Counts the answers by their status. A run that is absent is a 404, which only an accepted caller gets. */
function byStatus(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const hundred = Array.from({ length: 100 }, (_, turn) => turn);

test('one of a hundred presentations of a proof is accepted, and none after kill -9, on SQLite', async () => {
  const store = `sqlite:${folder.path('svc.db')}`;
  const first = await boot('sqlite', store);
  const proof = await presented();
  expect(byStatus(await Promise.all(hundred.map(() => proof(first))))).toEqual({ 401: 99, 404: 1 });
  const last = await presented();
  expect((await last(first)).status).toBe(404);
  await kill(first);
  const second = await boot('sqlite', store);
  expect((await last(second)).body.message).toContain('used before');
  expect((await proof(second)).status).toBe(401);
  expect((await (await presented())(second)).status).toBe(404);
  await kill(second);
});

describe('hosts that share a PostgreSQL', () => {
  const limits = { rateLimit: { limit: 10, windowSeconds: 3600, refusals: { limit: 1000, windowSeconds: 3600 } } };
  let hosts: readonly BootedHost[];

  beforeAll(async () => {
    hosts = await Promise.all(['a', 'b'].map((name) => boot(name, postgres.url, limits)));
  });

  test('accept one of a hundred presentations of a proof, and none after kill -9', async () => {
    const proof = await presented('u_replaying');
    const answers = await Promise.all(hundred.map((turn) => proof(hosts[turn % 2])));
    expect(byStatus(answers)).toEqual({ 401: 99, 404: 1 });
    const [first] = hosts;
    if (first !== undefined) await kill(first);
    hosts = [await boot('a', postgres.url, limits), ...hosts.slice(1)];
    for (const host of hosts) expect((await proof(host)).status).toBe(401);
  });

  test(`${covers('auth.rate-limit.per-key')} share the limit of a credential, also for proofs`, async () => {
    const answers = [];
    for (const turn of hundred.slice(0, 14)) {
      const headers = { authorization: `Bearer ${KEY}` };
      answers.push(await fetch(`${hosts[turn % 2]?.url}/v1/runs/run_absent`, { headers }));
    }
    expect(byStatus(answers)).toEqual({ 404: 10, 429: 4 });
    const statuses = [];
    for (const turn of hundred.slice(0, 12)) statuses.push(await (await presented('u_limited'))(hosts[turn % 2]));
    expect(byStatus(statuses)).toEqual({ 404: 10, 429: 2 });
  });
});

test(`${covers('auth.rate-limit.anonymous-by-address')} hosts on one PostgreSQL share the limit of refused requests`, async () => {
  const limits = { rateLimit: { limit: 1000, windowSeconds: 3600, refusals: { limit: 5, windowSeconds: 3600 } } };
  const server = await startPostgres();
  const hosts = await Promise.all(['c', 'd'].map((name) => boot(name, server.url, limits)));
  const answers = [];
  for (const turn of hundred.slice(0, 8)) {
    const headers = { authorization: `Bearer operator_guessed_key_of_enough_characters_${turn}` };
    answers.push(await fetch(`${hosts[turn % 2]?.url}/v1/runs/run_absent`, { headers }));
  }
  expect(byStatus(answers)).toEqual({ 401: 5, 429: 3 });
  const valid = { headers: { authorization: `Bearer ${KEY}` } };
  for (const host of hosts) expect((await fetch(`${host.url}/v1/runs/run_absent`, valid)).status).toBe(404);
  for (const host of hosts) await kill(host);
  await server.stop();
});
