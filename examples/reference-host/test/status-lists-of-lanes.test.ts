import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { scratch } from './booted-host.ts';
import { BASE, seconds, signer } from './callers.ts';

const spire = await signer('spire');
const cloud = await signer('cloud');
const idp = await signer('idp');
const folder = scratch();
const AGENT = 'spiffe://acme.example/agent';
const CLOUD = 'https://token.cloud.example';

/** A real issuer of three kinds: each has a list with its key, which is used for a millisecond, and one introspects. */
const SIGNERS = { spire, cloud, idp };
let status = 0;
let isDown = false;
const issuer = createServer(async (request, response) => {
  response.setHeader('connection', 'close');
  if (request.url === '/introspect') return response.end(JSON.stringify(answer()));
  if (isDown) return response.writeHead(500).end();
  const by = Object.entries(SIGNERS).find(([name]) => request.url?.endsWith(`/${name}`))?.[1];
  const list = { bits: 8, lst: deflateSync(Buffer.from([status])).toString('base64url') };
  const claims = { sub: `${url()}${request.url}`, exp: undefined, ttl: 0.001, status_list: list };
  return response.end(await by?.sign(claims, { typ: 'statuslist+jwt' }));
});
const url = () => `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
const listed = (name: string) => ({ status: { status_list: { idx: 0, uri: `${url()}/lists/${name}` } } });
const answer = () => ({
  ...{ active: true, aud: 'svc', sub: 'u_1', exp: seconds() + 60, scope: 'runs:read' },
  ...{ svc_tenant: 'acme', svc_workspaces: ['acme-prod'], ...listed('idp') },
});

let host: AcmeHost;
beforeAll(async () => {
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  for (const [name, { jwks }] of Object.entries(SIGNERS))
    writeFileSync(folder.path(`${name}.json`), JSON.stringify(jwks));
  writeFileSync(folder.path('secret.txt'), 'a-secret-of-this-host', { mode: 0o600 });
  const statusLists = { uris: [`${url()}/lists/`] };
  const grant = { tenant: 'acme', workspaces: ['acme-prod'], scopes: ['runs:read'] };
  host = await startAcme(
    {},
    {
      baseUrl: BASE,
      rateLimit: { limit: 1000, windowSeconds: 60, refusals: { limit: 8, windowSeconds: 600 } },
      introspection: {
        ...{ issuer: url(), endpoint: `${url()}/introspect`, audience: 'svc', clientId: 'svc', tokenPrefix: 'opaque_' },
        ...{ clientSecretFile: folder.path('secret.txt'), jwksFile: folder.path('idp.json'), statusLists },
      },
      workloadIdentity: {
        schemes: ['spiffe', 'cloud-subject'],
        audience: BASE,
        trustDomains: [{ name: 'acme.example', jwksFile: folder.path('spire.json'), statusLists }],
        issuers: [{ scheme: 'cloud-subject', issuer: CLOUD, jwksFile: folder.path('cloud.json'), statusLists }],
        bindings: [
          { subject: AGENT, principal: 'p_agent', ...grant },
          { subject: 'repo:acme', principal: 'p_deploy', ...grant },
        ],
      },
    },
  );
});
afterAll(async () => {
  await host.stop();
  issuer.closeAllConnections();
  await new Promise((resolve) => issuer.close(resolve));
  folder.remove();
});
beforeEach(() => {
  status = 0;
  isDown = false;
});

const credentials: Readonly<Record<string, () => Promise<string>>> = {
  'a JWT-SVID': () => spire.sign({ sub: AGENT, aud: [BASE], ...listed('spire') }, { typ: 'JWT' }),
  'a token of a cloud': () => cloud.sign({ iss: CLOUD, sub: 'repo:acme', aud: BASE, ...listed('cloud') }),
  'an opaque token': async () => 'opaque_token_of_this_test',
};

async function read(credential: string) {
  const response = await fetch(`${host.url()}/v1/runs/none`, { headers: { authorization: `Bearer ${credential}` } });
  const body = await response.json();
  return { status: response.status, headers: response.headers, body };
}

describe.each(Object.entries(credentials))('%s', (_name, credential) => {
  test(`${covers('auth.workload.status-list', 'auth.bearer.status-list')}, and again after that`, async () => {
    const text = await credential();
    expect((await read(text)).status).toBe(404);
    for (const withdrawn of [1, 2]) {
      status = withdrawn;
      expect((await read(text)).status).toBe(401);
    }
    status = 0;
    expect((await read(text)).status).toBe(404);
  });

  test(`${covers('auth.workload.status-list-outage', 'auth.bearer.status-list-outage')}`, async () => {
    isDown = true;
    const text = await credential();
    for (let n = 0; n < 12; n++) {
      const refused = await read(text);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect((await read(KEY)).status).toBe(404);
  });
});
