import { writeFileSync } from 'node:fs';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BootedHost, bootHost, scratch } from './booted-host.ts';
import { BASE, signer } from './callers.ts';

const OWNER = 'operator_brought_key_of_the_owner___________';
const MEMBER = 'operator_brought_key_of_a_member____________';
const folder = scratch();
const postgres = await startPostgres();
const hosts: BootedHost[] = [];
const scopes = ['roles:manage', 'withdrawals:manage', 'runs:read'];
const key = (id: string, secret: string) => ({
  id,
  key: secret,
  tenant: 'acme',
  workspaces: ['*'],
  principal: `p_${id}`,
  scopes,
});
const cloud = await signer('cloud');
const CLOUD = 'https://token.cloud.example';
writeFileSync(folder.path('cloud.json'), JSON.stringify(cloud.jwks));
const config = {
  listen: { port: 0 },
  baseUrl: BASE,
  store: postgres.url,
  workloadIdentity: {
    schemes: ['cloud-subject'],
    audience: BASE,
    issuers: [{ scheme: 'cloud-subject', issuer: CLOUD, jwksFile: folder.path('cloud.json') }],
    grants: [{ tenant: 'acme', issuer: CLOUD }],
  },
  secretKey: Buffer.alloc(32, 7).toString('base64'),
  tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
  apiKeys: [key('owner', OWNER), key('member', MEMBER)],
  authorization: {
    roles: [
      { role: 'owner', scopes },
      { role: 'reader', scopes: ['runs:read'] },
    ],
    assignments: [{ principal: 'p_owner', workspace: 'acme-prod', role: 'owner' }],
  },
};

const boot = (name: string) => bootHost(folder.path(`${name}.json`), config);

beforeAll(async () => {
  hosts.push(await boot('0'), await boot('1'));
});
afterAll(async () => {
  for (const host of hosts) host.process.kill('SIGKILL');
  await postgres.stop();
  folder.remove();
});

async function send(host: BootedHost, method: string, path: string, body?: object) {
  const response = await fetch(`${host.url}/host/example/${path}`, {
    method,
    headers: { authorization: `Bearer ${OWNER}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

async function statusOf(host: BootedHost, credential = MEMBER): Promise<number> {
  const response = await fetch(`${host.url}/v1/runs/absent`, { headers: { authorization: `Bearer ${credential}` } });
  await response.arrayBuffer();
  return response.status;
}

const at = (index: number): BootedHost => {
  const host = hosts[index % hosts.length];
  if (host === undefined) throw new Error('no host');
  return host;
};
const everywhere = (credential?: string) => Promise.all(hosts.map((host) => statusOf(host, credential)));

/** Repeats a change at alternating hosts, while the other hosts are asked all the time. */
async function underLoad(change: (host: BootedHost) => Promise<void>, credential?: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    let isOver = false;
    const load = hosts.map(async (host) => {
      while (!isOver) await statusOf(host, credential);
    });
    await change(at(round)).finally(() => {
      isOver = true;
    });
    await Promise.all(load);
  }
}

const ROUNDS = 6;
const [ACCEPTED, REFUSED, DENIED] = [404, 403, 401];

describe('hosts that share a database', () => {
  test('go by a changed assignment when the change is answered', async () => {
    expect(await everywhere()).toEqual([REFUSED, REFUSED]);
    await underLoad(async (host) => {
      const asked = { principal: 'p_member', workspace: 'acme-prod', role: 'reader' };
      const { id } = await send(host, 'POST', 'assignments', asked);
      expect(await everywhere()).toEqual([ACCEPTED, ACCEPTED]);
      await send(host, 'DELETE', `assignments/${id}`);
      expect(await everywhere()).toEqual([REFUSED, REFUSED]);
    });
  });

  test('go by a changed role when the change is answered', async () => {
    await send(at(0), 'POST', 'roles', { role: 'shift', scopes: ['runs:read'] });
    const asked = { principal: 'p_member', workspace: 'acme-prod', role: 'shift' };
    const { id } = await send(at(1), 'POST', 'assignments', asked);
    await underLoad(async (host) => {
      await send(host, 'PATCH', 'roles/shift', { scopes: ['withdrawals:manage'] });
      expect(await everywhere()).toEqual([REFUSED, REFUSED]);
      await send(host, 'PATCH', 'roles/shift', { scopes: ['runs:read'] });
      expect(await everywhere()).toEqual([ACCEPTED, ACCEPTED]);
    });
    await send(at(0), 'DELETE', `assignments/${id}`);
  });

  test('refuse a disabled person when the withdrawal is answered', async () => {
    await send(at(0), 'POST', 'assignments', { principal: 'p_member', workspace: 'acme-prod', role: 'reader' });
    await underLoad(async (host) => {
      const { id } = await send(host, 'POST', 'withdrawals', { withdraws: 'principal', principal: 'p_member' });
      expect(await everywhere()).toEqual([DENIED, DENIED]);
      await send(host, 'DELETE', `withdrawals/${id}`);
      expect(await everywhere()).toEqual([ACCEPTED, ACCEPTED]);
    });
  });

  test('go by a changed workload binding when the change is answered', async () => {
    const token = await cloud.sign({ iss: CLOUD, sub: 'job', aud: BASE });
    const asked = {
      issuer: CLOUD,
      subject: 'job',
      workspaces: ['acme-prod'],
      scopes: ['runs:read'],
      principal: 'p_owner',
    };
    await underLoad(async (host) => {
      expect(await everywhere(token)).toEqual([DENIED, DENIED]);
      const { id } = await send(host, 'POST', 'workload-bindings', asked);
      expect(await everywhere(token)).toEqual([ACCEPTED, ACCEPTED]);
      await send(host, 'PATCH', `workload-bindings/${id}`, { scopes: ['withdrawals:manage'] });
      expect(await everywhere(token)).toEqual([REFUSED, REFUSED]);
      await send(host, 'DELETE', `workload-bindings/${id}`);
    }, token);
  });

  test('bind an identity once when several callers do so at the same time', async () => {
    const asked = (scope: string) => ({ issuer: CLOUD, subject: 'race', workspaces: ['acme-prod'], scopes: [scope] });
    const made = await Promise.allSettled(
      [0, 1, 2, 3].map((index) => send(at(index), 'POST', 'workload-bindings', asked(scopes[index % 2] ?? ''))),
    );
    const bound = made.flatMap((one) => (one.status === 'fulfilled' ? [JSON.stringify(one.value)] : []));
    expect([bound.length, new Set(bound).size]).toEqual([2, 1]);
    for (const one of made) if (one.status === 'rejected') expect(String(one.reason)).toContain('400');
  });

  test('do not wait for a killed host beyond its lease', async () => {
    const killed = hosts.pop();
    killed?.process.kill('SIGKILL');
    await killed?.ended;
    await send(at(0), 'POST', 'withdrawals', { withdraws: 'principal', principal: 'p_member' });
    expect(await everywhere()).toEqual([DENIED]);
  });
});
