// Runs in every runtime against the built package, so it uses only the language and Web types.
import { authenticator, authorize, refusal } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore, mintApiKey } from '@svc/auth/api-key';
import { ed25519Signer, memoryAuditLog, verifyAudit } from '@svc/auth/audit';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { guard } from '@svc/auth/fetch';
import { clientCertificates } from '@svc/auth/mtls';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { statusLists } from '@svc/auth/status-list';
import { jwtSvid, workloadLane } from '@svc/auth/workload';

/** @returns {Promise<import('@svc/tools/portable').SuiteReport>} */
export default async function suite() {
  const failures = [];
  let total = 0;
  const check = (why, found, expected) => {
    total += 1;
    if (found !== expected) failures.push(`${why}: ${found}, expected ${expected}`);
  };
  // The clock stands still: a slow runtime must not outlive the tokens and proofs.
  const start = Date.now();
  const now = () => start;
  const seconds = Math.floor(now() / 1000);
  const randomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));
  const codeOf = (outcome) => (outcome.kind === 'refused' ? outcome.error.code : outcome.principal.id);

  const { key } = mintApiKey({ mode: 'live', randomBytes });
  const record = { id: 'key_1', hash: hashApiKey(key), tenant: 'acme', workspaces: 'all', principal: 'p_1' };
  const keys = memoryKeyStore([{ ...record, scopes: ['runs:read'], mode: 'live' }]);

  const issuer = await signer({ name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }, 'ES256');
  const rsa = await signer(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    'RS256',
  );
  const client = await signer({ name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }, 'ES256');
  const published = localKeys({ keys: [issuer.jwk, rsa.jwk] });
  const claims = { iss: 'https://idp.example.com', aud: 'svc', sub: 'u_1', iat: seconds, exp: seconds + 60 };
  const grants = { scope: 'runs:read', svc_tenant: 'acme', svc_workspaces: ['prod'] };
  const nonces = statelessNonces({ secret: randomBytes(32), now });
  const dpop = dpopVerifier({ origin: 'https://svc.example', replays: memoryReplayStore({ now }), now, nonces });
  const auth = authenticator({
    lanes: [
      workloadLane({
        schemes: [jwtSvid({ trustDomains: [{ name: 'acme.example', keys: published }] })],
        audience: 'svc',
        resolve: () => ({ principal: 'p_w', tenant: 'acme', workspaces: 'all', scopes: [], mode: 'live' }),
        now,
      }),
      bearerLane({
        issuers: [{ issuer: claims.iss, audience: 'svc', profile: 'user', keys: published }],
        dpop,
        certificateOf: clientCertificates(),
        now,
      }),
      apiKeyLane({ keys, now }),
    ],
  });
  const ask = (headers, url = 'https://svc.example/v1/runs') => auth.authenticate(new Request(url, { headers }));
  const bearing = (token) => ask({ authorization: `Bearer ${token}` });

  check('an API key', codeOf(await bearing(key)), 'p_1');
  check('another key', codeOf(await bearing(`${key.slice(0, -1)}x`)), 'unauthenticated');
  check('nothing', codeOf(await ask({})), 'unauthenticated');
  for (const by of [issuer, rsa]) {
    const token = await by.sign({ ...claims, ...grants });
    check(`${by.jwk.alg}`, codeOf(await bearing(token)), 'u_1');
    check(`${by.jwk.alg}, changed`, codeOf(await bearing(`${token.slice(0, -6)}AAAAAA`)), 'unauthenticated');
  }
  check(
    'another audience',
    codeOf(await bearing(await issuer.sign({ ...claims, ...grants, aud: 'x' }))),
    'audience_mismatch',
  );
  check(
    'too late',
    codeOf(await bearing(await issuer.sign({ ...claims, exp: seconds - 90, iat: 1 }))),
    'unauthenticated',
  );
  const twice = `{"iss":"https://evil.example",${JSON.stringify({ ...claims, ...grants }).slice(1)}`;
  check('a name twice', codeOf(await bearing(await issuer.signText(twice))), 'unauthenticated');

  const bound = await issuer.sign({ ...claims, ...grants, cnf: { jkt: await thumbprint(client.jwk) } });
  const proof = async (nonce) => {
    const { kty, crv, x, y } = client.jwk;
    const ath = encode(new Uint8Array(await crypto.subtle.digest('SHA-256', text(bound))));
    const payload = {
      htm: 'GET',
      htu: 'https://svc.example/v1/runs',
      iat: seconds,
      jti: crypto.randomUUID(),
      ath,
      nonce,
    };
    return client.sign(payload, { typ: 'dpop+jwt', jwk: { kty, crv, x, y }, kid: undefined });
  };
  check('a bound token as bearer', codeOf(await bearing(bound)), 'sender_constraint_missing');
  const asked = await ask({ authorization: `DPoP ${bound}`, dpop: await proof('other') });
  check('a nonce is asked for', refusal(asked.error).headers['dpop-nonce'], nonces.current());
  const once = { authorization: `DPoP ${bound}`, dpop: await proof(nonces.current()) };
  check('a proof', codeOf(await ask(once)), 'u_1');
  check('a proof again', codeOf(await ask(once)), 'unauthenticated');
  const svid = await issuer.sign({ ...claims, iss: undefined, sub: 'spiffe://acme.example/billing' });
  check('an SVID', codeOf(await bearing(svid)), 'p_w');
  check(
    'an SVID of another domain',
    codeOf(await bearing(await issuer.sign({ ...claims, sub: 'spiffe://evil.example/x' }))),
    'identity_unverified',
  );

  // A list of the specification: the token 0 is revoked, the token 1 is valid.
  const uri = `${claims.iss}/lists/1`;
  const list = (lst) =>
    issuer.sign({ sub: uri, iat: seconds, status_list: { bits: 1, lst } }, { typ: 'statuslist+jwt' });
  const judged = async (lst, idx) => {
    const lists = statusLists({ uris: [uri], fetch: async () => new Response(await list(lst)) });
    const entry = { issuer: claims.iss, audience: 'svc', profile: 'user', keys: published, statusLists: lists };
    const lane = bearerLane({ issuers: [entry], now });
    const token = await issuer.sign({ ...claims, ...grants, status: { status_list: { idx, uri } } });
    return codeOf(
      await authenticator({ lanes: [lane] }).authenticate({ headers: { authorization: `Bearer ${token}` } }),
    );
  };
  check('a valid status', await judged('eNrbuRgAAhcBXQ', 1), 'u_1');
  check('a revoked status', await judged('eNrbuRgAAhcBXQ', 0), 'unauthenticated');
  check('an index behind the end', await judged('eNrbuRgAAhcBXQ', 16), 'service_unavailable');
  check('a list that is cut off', await judged('eNrbuRgAAh', 1), 'service_unavailable');

  const limiter = memoryRateLimiter({ limit: 2, windowSeconds: 60, now });
  const handle = guard({ authenticator: auth, limiter, scope: 'runs:read' }, (_request, { id }) => new Response(id));
  const statuses = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const request = new Request('https://svc.example/', { headers: { authorization: `Bearer ${key}` } });
    statuses.push((await handle(request)).status);
  }
  check('a guard handler', statuses.join(), '200,200,429');
  check('a scope', authorize({ scopes: ['runs:*'] }, 'runs:cancel').allowed, true);

  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']).catch(() => undefined);
  // Not every runtime has Ed25519 in WebCrypto yet.
  if (pair !== undefined) {
    const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey));
    const sealer = await ed25519Signer(pkcs8);
    const log = memoryAuditLog();
    for (let entry = 0; entry < 5; entry += 1) {
      log.append({ action: 'a.b', actor: 'p_1', target: null, occurredAt: new Date().toISOString(), details: {} });
    }
    await log.seal(sealer, () => 'cp_1');
    const verified = await verifyAudit(log, { fromSeq: 1, toSeq: 5, publicKeys: [sealer.publicKey] });
    check('an audit log', verified.chainValid && verified.checkpoints.length === 1, true);
  }
  return { total, failures };
}

async function signer(algorithm, alg) {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const kid = `${alg}-${crypto.randomUUID()}`;
  const { key_ops: _operations, ext: _ext, ...jwk } = await crypto.subtle.exportKey('jwk', publicKey);
  const signText = async (payload, header = {}) => {
    const input = `${encode(text(JSON.stringify({ alg, kid, ...header })))}.${encode(text(payload))}`;
    return `${input}.${encode(new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, text(input))))}`;
  };
  const sign = (claims, header) => signText(JSON.stringify(claims), header);
  return { jwk: { ...jwk, kid, alg, use: 'sig' }, sign, signText };
}

async function thumbprint({ crv, kty, x, y }) {
  const digest = await crypto.subtle.digest('SHA-256', text(JSON.stringify({ crv, kty, x, y })));
  return encode(new Uint8Array(digest));
}

function text(value) {
  return new TextEncoder().encode(value);
}

function encode(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
