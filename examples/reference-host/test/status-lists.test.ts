import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { scratch } from './booted-host.ts';
import { BASE, prover, seconds, signer } from './callers.ts';

const idp = await signer('idp');
const stranger = await signer('idp');
const holder = await prover();
const folder = scratch();

/** The lists of a real issuer. Each is used for a millisecond, so every request has the host fetch it again. */
const statuses = [0, 0, 0, 0];
let by = idp;
let isDown = false;
let asked = 0;
const issuer = createServer(async (request, response) => {
  asked += 1;
  if (isDown) return response.writeHead(500).end();
  const list = { bits: 8, lst: deflateSync(Buffer.from(statuses)).toString('base64url') };
  const claims = { sub: `${url()}${request.url}`, exp: undefined, ttl: 0.001, status_list: list };
  response.writeHead(200, { 'content-type': 'application/statuslist+jwt' });
  return response.end(await by.sign(claims, { typ: 'statuslist+jwt' }));
});
const url = () => `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;

let host: AcmeHost;
beforeAll(async () => {
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  writeFileSync(folder.path('idp.json'), JSON.stringify(idp.jwks));
  host = await startAcme(
    {},
    {
      baseUrl: BASE,
      rateLimit: { limit: 1000, windowSeconds: 60, refusals: { limit: 5, windowSeconds: 600 } },
      oauth2: {
        issuers: [
          {
            ...{ issuer: url(), audience: 'svc', jwksFile: folder.path('idp.json') },
            statusLists: { uris: [`${url()}/lists/`] },
          },
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
  statuses.fill(0);
  by = idp;
  isDown = false;
});

const token = (idx: number, claims: object = {}) =>
  idp.sign(
    {
      ...{ iss: url(), aud: 'svc', sub: 'm_1', client_id: 'm_1', jti: `t${idx}`, scope: 'runs:read' },
      ...{ svc_tenant: 'acme', svc_workspaces: ['acme-prod'] },
      status: { status_list: { idx, uri: `${url()}/lists/1` } },
      ...claims,
    },
    { typ: 'at+jwt' },
  );

async function read(text: string, headers: Record<string, string> = { authorization: `Bearer ${text}` }) {
  const response = await fetch(`${host.url()}/v1/runs/none`, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe(covers('auth.bearer.status-list'), () => {
  test('a token is accepted until its issuer lists it as revoked or suspended, and again after that', async () => {
    const text = await token(1);
    expect((await read(text)).status).toBe(404);
    for (const status of [1, 2, 12]) {
      statuses[1] = status;
      const refused = await read(text);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching(/^Bearer .*error="invalid_token"/),
      ]);
      expect((await read(await token(2))).status).toBe(404);
    }
    statuses[1] = 0;
    expect((await read(text)).status).toBe(404);
  });

  test('a token that names a list elsewhere is refused, and nothing is fetched', async () => {
    const before = asked;
    const uri = `${url()}/lists/../other`;
    expect((await read(await token(1, { status: { status_list: { idx: 1, uri } } }))).status).toBe(401);
    expect(asked).toBe(before);
  });

  test('a token that is bound to a key needs its proof as well as its status', async () => {
    const text = await token(3, { cnf: { jkt: holder.thumbprint } });
    const proven = async () => ({
      authorization: `DPoP ${text}`,
      dpop: await holder.proof('GET', '/v1/runs/none', text),
    });
    expect((await read(text, await proven())).status).toBe(404);
    statuses[3] = 1;
    expect((await read(text, await proven())).status).toBe(401);
  });
});

describe(covers('auth.bearer.status-list-outage'), () => {
  test('while the issuer is down, a token gets 503 more often than a client may be refused, and a key does not', async () => {
    isDown = true;
    const text = await token(1, { iat: seconds() - 1 });
    for (let n = 0; n < 12; n++) {
      const refused = await read(text);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect((await read(KEY)).status).toBe(404);
  });
});

test('a list of another key is no list', async () => {
  by = stranger;
  expect((await read(await token(0))).status).toBe(503);
});
