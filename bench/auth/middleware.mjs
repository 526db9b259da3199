import { createServer } from 'node:http';
import { authenticator } from '@svc/auth';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { guard } from '@svc/auth/express';
import { auth, requiredScopes } from 'express-oauth2-jwt-bearer';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { summary } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';

const ROUNDS = 7;
const ROUND_MS = 500;
const ISSUER = 'https://idp.example.com/';
const AUDIENCE = 'https://svc.example.com';

/**
 * Measures requests per second through the middleware of Express, one after another: a signed token is verified and its
 * scope is required, without a server around it. The peer is express-oauth2-jwt-bearer.
 */
export default async function middleware() {
  const found = {};
  const rows = [];
  for (const algorithm of ['ES256', 'RS256']) {
    const { candidates, stop } = await candidatesFor(algorithm);
    const rates = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
    for (const work of Object.values(candidates)) await perSecond(work, 200);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, work] of Object.entries(candidates)) rates[name].push(await perSecond(work, ROUND_MS));
    }
    await stop();
    const of = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
    const peer = of['express-oauth2-jwt-bearer'].perSecond;
    for (const [name, { perSecond: each, spread }] of Object.entries(of)) {
      rows.push([`${algorithm} ${name}`, rate(each), (each / peer).toFixed(2), `${Math.round(spread * 100)} %`]);
    }
    found[algorithm] = of;
  }
  printTable(['middleware', 'per second', 'of the peer', 'spread'], rows);
  return { versions: versionsOf(['express-oauth2-jwt-bearer']), found };
}

async function candidatesFor(algorithm) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: algorithm, use: 'sig' };
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'u_7f3a',
    iat: now,
    exp: now + 3600,
    jti: 'j1',
    client_id: 'console',
  };
  const rest = { scope: 'runs:read', svc_tenant: 'acme', svc_workspaces: ['acme-prod'] };
  const token = await new SignJWT({ ...claims, ...rest })
    .setProtectedHeader({ alg: algorithm, kid: 'k1', typ: 'at+jwt' })
    .sign(privateKey);

  // The peer fetches its keys once, and has them in memory from then on.
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const jwksUri = `http://127.0.0.1:${server.address().port}/`;
  const peer = auth({ issuer: ISSUER, audience: AUDIENCE, jwksUri, tokenSigningAlg: algorithm, strict: true });
  const peerScopes = requiredScopes('runs:read');

  const issuers = [{ issuer: ISSUER, audience: AUDIENCE, profile: 'user', keys: localKeys({ keys: [jwk] }) }];
  const lanes = [bearerLane({ issuers })];
  const mayReadRuns = guard({ authenticator: authenticator({ lanes }), scope: 'runs:read' });

  const candidates = {
    'express-oauth2-jwt-bearer': async () => {
      const request = requestWith(token);
      await through(peer, request);
      await through(peerScopes, request);
    },
    'ours, guard': () => through(mayReadRuns, requestWith(token)),
  };
  return { candidates, stop: () => new Promise((resolve) => server.close(resolve)) };
}

function requestWith(token) {
  const authorization = `Bearer ${token}`;
  const headers = { host: 'svc.example.com', authorization };
  return {
    method: 'GET',
    url: '/runs',
    protocol: 'https',
    headers,
    headersDistinct: { host: [headers.host], authorization: [authorization] },
    get: (name) => headers[name.toLowerCase()],
    query: {},
    is: () => false,
  };
}

const RESPONSE = {
  setHeader() {},
  end() {
    throw new Error('The token was rejected.');
  },
};

function through(handler, request) {
  return new Promise((resolve, reject) => {
    handler(request, RESPONSE, (error) => (error === undefined ? resolve() : reject(error)));
  });
}

async function perSecond(work, forMs) {
  const started = performance.now();
  let done = 0;
  while (performance.now() - started < forMs) {
    await work();
    done += 1;
  }
  return (done / (performance.now() - started)) * 1000;
}
