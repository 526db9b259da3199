import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { authenticator, authorize } from '@svc/auth';
import { apiKeyLane, memoryKeyStore, mintApiKey } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { dpopVerifier } from '@svc/auth/dpop';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { summary } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';

const ROUNDS = 7;
const ROUND_MS = 700;
const ORIGIN = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const KEY_ROW = 'ours, API key';

/**
 * Measures full checks of a signed token per second, one after another: header, strict JSON, type, key by its id,
 * signature, issuer, audience, times, binding, tenant, workspaces and scopes. The limit is jose's `jwtVerify` with the
 * key. The goals are 0.90 of it, and 0.45 for a token that is bound by DPoP, whose proof is a second signature.
 *
 * `again` is a token whose signature is remembered: every rule but the signature is judged. The goal is 0.50 of the rate
 * of an API key, which is measured beside it.
 */
export default async function tokens() {
  const found = {};
  const rows = [];
  for (const algorithm of ['ES256', 'EdDSA', 'RS256']) {
    const candidates = await candidatesFor(algorithm);
    const rates = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
    for (const work of Object.values(candidates)) await perSecond(work, 200);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, work] of Object.entries(candidates)) rates[name].push(await perSecond(work, ROUND_MS));
    }
    const of = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
    const limit = of['jose jwtVerify'].perSecond;
    for (const [name, { perSecond: each, spread }] of Object.entries(of)) {
      rows.push([
        `${algorithm} ${name}`,
        rate(each),
        (each / limit).toFixed(2),
        (each / of[KEY_ROW].perSecond).toFixed(3),
        `${Math.round(spread * 100)} %`,
      ]);
    }
    found[algorithm] = of;
  }
  printTable(['token', 'per second', 'of jose', 'of an API key', 'spread'], rows);
  return { goals: { bearer: 0.9, dpop: 0.45, againOfApiKey: 0.5 }, versions: versionsOf(['jose']), found };
}

async function candidatesFor(algorithm) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const client = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(client.publicKey);
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: ISSUER,
    aud: 'svc',
    sub: 'u_7f3a9c1b',
    iat: now,
    exp: now + 3600,
    jti: randomUUID(),
    client_id: 'console',
    scope: 'runs:read runs:create',
    svc_tenant: 'acme',
    svc_workspaces: ['acme-prod'],
  };
  const sign = (extra) =>
    new SignJWT({ ...claims, ...extra })
      .setProtectedHeader({ alg: algorithm, kid: 'k1', typ: 'at+jwt' })
      .sign(privateKey);
  const token = await sign({});
  const bound = await sign({ cnf: { jkt: await calculateJwkThumbprint(jwk) } });

  const keys = localKeys({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: algorithm, use: 'sig' }] });
  const dpop = dpopVerifier({
    origin: ORIGIN,
    // Accepts repeated proofs: the benchmark reuses one, because signing takes longer than verifying.
    replays: { claim: () => 'fresh' },
    perHolder: memoryRateLimiter({ limit: 1e9, windowSeconds: 120 }),
  });
  const issuers = [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys }];
  const tokensWith = (rememberedTokens) => authenticator({ lanes: [bearerLane({ issuers, dpop, rememberedTokens })] });
  const [each, again] = [tokensWith(0), tokensWith(10_000)];
  const minted = mintApiKey({ mode: 'live', randomBytes });
  const record = { id: 'key_1', hash: minted.hash, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
  const stored = memoryKeyStore([{ ...record, scopes: ['runs:read', 'runs:create'], mode: 'live' }]);
  const byKey = authenticator({ lanes: [apiKeyLane({ keys: stored })] });
  const proof = async () =>
    new SignJWT({
      htm: 'GET',
      htu: `${ORIGIN}/v1/runs/run_1`,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      ath: createHash('sha256').update(bound).digest('base64url'),
    })
      .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk })
      .sign(client.privateKey);
  let fresh = await proof();
  let made = Date.now();
  const check = async (auth, request) => {
    const outcome = await auth.authenticate(request);
    if (outcome.kind !== 'authenticated' || !authorize(outcome.principal, 'runs:read').allowed)
      throw new Error('The token was rejected.');
  };
  const head = { method: 'GET', url: '/v1/runs/run_1' };
  const checkBound = async (auth) => {
    if (Date.now() - made > 20_000) {
      fresh = await proof();
      made = Date.now();
    }
    await check(auth, { ...head, headers: { authorization: `DPoP ${bound}`, dpop: fresh } });
  };
  return {
    'jose jwtVerify': () => jwtVerify(token, publicKey, { issuer: ISSUER, audience: 'svc', algorithms: [algorithm] }),
    'ours, bearer': () => check(each, { ...head, headers: { authorization: `Bearer ${token}` } }),
    'ours, bearer again': () => check(again, { ...head, headers: { authorization: `Bearer ${token}` } }),
    'ours, DPoP': () => checkBound(each),
    'ours, DPoP again': () => checkBound(again),
    [KEY_ROW]: () => check(byKey, { ...head, headers: { authorization: `Bearer ${minted.key}` } }),
  };
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
