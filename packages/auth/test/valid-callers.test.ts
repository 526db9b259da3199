import { createHash } from 'node:crypto';
import { type AuthOutcome, authenticator, type Peer, type RequestHead } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { clientCertificates } from '@svc/auth/mtls';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import { jwtSvid, type WorkloadBinding, workloadLane } from '@svc/auth/workload';
import { x509Svid } from '@svc/auth/workload/x509';
import { type Issued, issue } from '@svc/tools/certificates';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const START = Date.UTC(2026, 5, 1);
const KEY = 'operator-key-of-this-test-0123456789';
const HOST = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const ADDRESS = '192.0.2.1';
const AGENT = 'spiffe://acme.example/agent';
const [idp, bundle, forger] = await Promise.all([signer('ES256'), signer('ES256'), signer('ES256')]);
const validity = { notBefore: new Date(START - 1000), notAfter: new Date(START + 3_600_000) };
const root = await issue('root', { isAuthority: true, ...validity });
const otherRoot = await issue('other root', { isAuthority: true, ...validity });
const holder = await proofMaker();
const grants = { tenant: 'acme', workspaces: 'all', scopes: [], mode: 'live' } as const;
const BINDING: WorkloadBinding = { principal: 'p_agent', ...grants };

/** A host with every lane, on one clock. Refusals of an address: 20 in 60 s. */
function world(verificationsInSecond = 100) {
  const clock = { time: START };
  const now = () => clock.time;
  const counts = { verified: 0 };
  const counting = (keys: ReturnType<typeof localKeys>) => ({
    find(wanted: Parameters<typeof keys.find>[0]) {
      counts.verified += 1;
      return keys.find(wanted);
    },
  });
  const dpop = dpopVerifier({
    origin: HOST,
    replays: memoryReplayStore({ now }),
    nonces: statelessNonces({ secret: new Uint8Array(32).fill(7), now }),
    now,
  });
  const certificateOf = clientCertificates();
  const authorities = { name: 'acme.example', authorities: [root.pem] };
  const lanes = [
    workloadLane({
      schemes: [
        jwtSvid({ trustDomains: [{ name: 'acme.example', keys: counting(localKeys(keySetOf(bundle))) }] }),
        x509Svid({ certificateOf, trustDomains: [authorities] }),
      ],
      audience: 'svc',
      resolve: ({ subject }) => (subject === AGENT ? BINDING : undefined),
      now,
    }),
    bearerLane({
      issuers: [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys: counting(localKeys(keySetOf(idp))) }],
      dpop,
      certificateOf,
      now,
    }),
    apiKeyLane({
      keys: memoryKeyStore([{ id: 'key_1', hash: hashApiKey(KEY), principal: 'p_1', ...grants }]),
      now,
    }),
  ];
  const host = authenticator({
    lanes,
    refusals: {
      limiter: memoryRateLimiter({ limit: 20, windowSeconds: 60, now }),
      clientOf: clientAddress(),
      verifications: { perSecond: verificationsInSecond, now },
    },
  });
  const send = (head: Partial<RequestHead>): Promise<AuthOutcome> =>
    host.authenticate({ method: 'GET', url: '/runs', headers: {}, peer: { address: ADDRESS }, ...head });
  const attack = async (head: Partial<RequestHead>, times: number) => {
    for (let turn = 0; turn < times; turn++) expect((await send(head)).kind).toBe('refused');
  };
  return { clock, counts, send, attack };
}

type World = ReturnType<typeof world>;

const seconds = (time: number) => Math.floor(time / 1000);
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

let minted = 0;
const claimsAt = (time: number) => ({
  iss: ISSUER,
  aud: 'svc',
  sub: 'u_1',
  svc_tenant: 'acme',
  svc_workspaces: ['*'],
  iat: seconds(time),
  exp: seconds(time) + 60,
  jti: `t_${minted++}`,
});

const svidClaims = (time: number) => ({ aud: 'svc', sub: AGENT, exp: seconds(time) + 60, jti: `s_${minted++}` });

function over(leaf: Issued, trusted = true): { peer: Peer } {
  return { peer: { address: ADDRESS, certificate: () => ({ der: leaf.der, issuers: [], trusted }) } };
}

const svid = (authority = root) => issue(`agent ${minted++}`, { uris: [AGENT], ...validity }, authority);

/** Makes a proof as clients do: without a nonce, and once more with the nonce of the challenge. */
async function withProof(at: World, token: string): Promise<AuthOutcome> {
  const proven = async (nonce?: string) => {
    const iat = seconds(at.clock.time);
    const options = { htm: 'GET', htu: `${HOST}/runs`, token, iat, ...(nonce !== undefined && { nonce }) };
    return at.send({ headers: { authorization: `DPoP ${token}`, dpop: await holder.proof(options) } });
  };
  const first = await proven();
  const nonce = first.kind === 'refused' ? first.error.dpop?.nonce : undefined;
  return nonce === undefined ? first : await proven(nonce);
}

/** Each valid caller presents a credential that the host has never seen. */
const CALLERS: Readonly<Record<string, (at: World) => Promise<AuthOutcome>>> = {
  'an API key': (at) => at.send(bearer(KEY)),
  'a new bearer token': async (at) => at.send(bearer(await idp.sign(claimsAt(at.clock.time)))),
  'a new token bound by DPoP': async (at) =>
    withProof(at, await idp.sign({ ...claimsAt(at.clock.time), sub: 'u_2', cnf: { jkt: holder.thumbprint } })),
  'a new token bound to a new certificate': async (at) => {
    const leaf = await svid();
    const thumbprint = createHash('sha256').update(leaf.der).digest('base64url');
    const cnf = { 'x5t#S256': thumbprint };
    const token = await idp.sign({ ...claimsAt(at.clock.time), sub: 'u_3', cnf });
    return at.send({ ...over(leaf), ...bearer(token) });
  },
  'a new JWT-SVID': async (at) => at.send(bearer(await bundle.sign(svidClaims(at.clock.time), { typ: 'JWT' }))),
  'a new X.509-SVID': async (at) => at.send(over(await svid())),
};

/** Requests of strangers at the same address. */
const ATTACKS: Readonly<Record<string, (at: World) => Promise<void>>> = {
  'requests without a credential': (at) => at.attack({}, 50),
  'guessed keys': (at) => at.attack(bearer(`svc_live_${'x'.repeat(32)}`), 50),
  garbage: (at) => at.attack(bearer('x'), 50),
  'forged tokens of many users': async (at) => {
    for (let turn = 0; turn < 50; turn++)
      await at.attack(bearer(await forger.sign({ ...claimsAt(at.clock.time), sub: `x_${turn}` })), 1);
  },
  'forged tokens with the claims of the caller': async (at) => {
    for (const sub of ['u_1', 'u_2', 'u_3'])
      await at.attack(bearer(await forger.sign({ ...claimsAt(at.clock.time), sub })), 30);
  },
  'tokens that have expired, or are for another audience': async (at) => {
    const expired = { ...claimsAt(at.clock.time), exp: seconds(at.clock.time) - 600 };
    await at.attack(bearer(await forger.sign(expired)), 200);
    await at.attack(bearer(await forger.sign({ ...claimsAt(at.clock.time), aud: 'other' })), 200);
  },
  'forged JWT-SVIDs': async (at) => at.attack(bearer(await forger.sign(svidClaims(at.clock.time))), 90),
  'certificates of another authority': async (at) => at.attack(over(await svid(otherRoot)), 90),
  'certificates that TLS did not verify': async (at) => at.attack(over(await svid(otherRoot), false), 90),
};

describe(covers('auth.rate-limit.valid-key-unaffected'), () => {
  describe.each(Object.entries(CALLERS))('%s', (_name, calls) => {
    test.each(Object.entries(ATTACKS))('is accepted beside %s', async (_attack, attacks) => {
      const at = world();
      expect(await calls(at), 'before the attack').toMatchObject({ kind: 'authenticated' });
      for (let second = 0; second < 4; second++) {
        await attacks(at);
        expect(await calls(at), `in second ${second}`).toMatchObject({ kind: 'authenticated' });
        at.clock.time += 1000;
      }
    });
  });

  test('a known caller is accepted when forged tokens of others use up the verifications of each second', async () => {
    const at = world(5);
    const caller = async () => (await at.send(bearer(await idp.sign(claimsAt(at.clock.time))))).kind;
    expect(await caller()).toBe('authenticated');
    for (let second = 0; second < 10; second++) {
      for (let turn = 0; turn < 30; turn++)
        await at.attack(bearer(await forger.sign({ ...claimsAt(at.clock.time), sub: `x_${turn}` })), 1);
      expect(await caller()).toBe('authenticated');
      at.clock.time += 1000;
    }
  });

  test('a known caller is accepted when forged tokens with the claims of another use up all that they can', async () => {
    const at = world(50);
    const caller = async () => (await at.send(bearer(await idp.sign(claimsAt(at.clock.time))))).kind;
    expect(await caller()).toBe('authenticated');
    const other = { ...claimsAt(at.clock.time), sub: 'u_2' };
    expect(await at.send(bearer(await idp.sign(other)))).toMatchObject({ kind: 'authenticated' });
    const copy = await forger.sign({ ...other, exp: other.exp + 30 });
    for (let second = 0; second < 3; second++) {
      await at.attack(bearer(copy), 300);
      expect(await caller()).toBe('authenticated');
      at.clock.time += 1000;
    }
  });

  test('the verifications of an address are bounded, also when forged tokens have the claims of callers', async () => {
    const at = world(5);
    for (const sub of ['u_1', 'u_2', 'u_3']) await at.send(bearer(await idp.sign({ ...claimsAt(at.clock.time), sub })));
    const known = at.counts.verified;
    for (let turn = 0; turn < 1000; turn++) {
      const sub = `u_${turn % 6}`;
      await at.attack(bearer(await forger.sign({ ...claimsAt(at.clock.time), sub })), 1);
    }
    // The refusals of the address, and both budgets of new credentials.
    expect(at.counts.verified - known).toBeLessThanOrEqual(20 + 2 * 5);
  });

  test('at an address without a valid caller, refusals alone bound the verifications', async () => {
    const at = world();
    for (let turn = 0; turn < 100; turn++) await at.attack(bearer(await forger.sign(claimsAt(at.clock.time))), 1);
    expect(at.counts.verified).toBe(20);
  });

  test('a token above the limit of verifications may try again after a second', async () => {
    const at = world(1);
    await at.send(bearer(await idp.sign(claimsAt(at.clock.time))));
    const forged = await forger.sign({ ...claimsAt(at.clock.time), sub: 'x_1' });
    await at.attack(bearer(forged), 30);
    const token = await idp.sign({ ...claimsAt(at.clock.time), sub: 'u_9' });
    const refused = await at.send(bearer(token));
    expect(refused).toMatchObject({ error: { code: 'rate_limited', details: { retryAfterSeconds: 1 } } });
    at.clock.time += 1000;
    expect(await at.send(bearer(token))).toMatchObject({ kind: 'authenticated' });
  });

  test('nonces that are missing count against the token alone', async () => {
    const at = world();
    const claims = { ...claimsAt(at.clock.time), cnf: { jkt: holder.thumbprint } };
    const token = await idp.sign(claims);
    const asked = async () => {
      const iat = seconds(at.clock.time);
      const dpop = await holder.proof({ htm: 'GET', htu: `${HOST}/runs`, token, iat });
      const outcome = await at.send({ headers: { authorization: `DPoP ${token}`, dpop } });
      return outcome.kind === 'refused' ? outcome.error.status : 200;
    };
    const statuses: number[] = [];
    for (let turn = 0; turn < 21; turn++) statuses.push(await asked());
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    expect(statuses[20], 'its own budget is used up').toBe(429);
    expect(await at.send(bearer(await idp.sign({ ...claims, cnf: undefined, sub: 'u_7' })))).toMatchObject({
      kind: 'authenticated',
    });
  });
});
