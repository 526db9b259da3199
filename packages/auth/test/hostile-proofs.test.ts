import { authenticator } from '@svc/auth';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ProofMaker, proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const ORIGIN = 'https://svc.example.com';
const SECONDS = Date.UTC(2026, 5, 1) / 1000;
const now = () => SECONDS * 1000;
const idp = await signer('ES256');
const client = await proofMaker();
const TOKEN = await idp.sign({
  iss: 'https://idp.example.com',
  aud: 'svc',
  sub: 'u_1',
  iat: SECONDS,
  exp: SECONDS + 60,
  svc_tenant: 'acme',
  svc_workspaces: ['*'],
  cnf: { jkt: client.thumbprint },
});

/** Answers the proofs of one client, of which it takes `limit` refusals. */
function host(limit: number) {
  const issuer = { issuer: 'https://idp.example.com', audience: 'svc', profile: 'user' } as const;
  const dpop = dpopVerifier({ origin: ORIGIN, replays: memoryReplayStore({ now }), now });
  const { authenticate } = authenticator({
    lanes: [bearerLane({ issuers: [{ ...issuer, keys: localKeys(keySetOf(idp)) }], dpop, now })],
    refusals: { limiter: memoryRateLimiter({ limit, windowSeconds: 60, now }), clientOf: clientAddress() },
  });
  return async (proof: string) => {
    const headers = { authorization: `DPoP ${TOKEN}`, dpop: proof };
    const request = { method: 'GET', url: '/v1/runs', headers, peer: { address: '192.0.2.1' } };
    const outcome = await authenticate(request);
    if (outcome.kind === 'authenticated') return 'accepted';
    return `${outcome.error.status} ${outcome.error.dpop?.error}`;
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Signs a proof whose header, key and claims are changed. */
function proof(maker: ProofMaker, change: { header?: Members; jwk?: Members; claims?: Members } = {}) {
  const jwk = { ...maker.publicJwk, ...change.jwk };
  return maker.proof({
    htm: 'GET',
    htu: `${ORIGIN}/v1/runs`,
    token: TOKEN,
    iat: SECONDS,
    claims: { ...change.claims },
    header: { jwk, ...change.header },
  });
}

const KEY_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'd', 'k'];
const INHERITED = Object.getOwnPropertyNames(Object.prototype);
const anyValue = fc.oneof(
  fc.constantFrom(...INHERITED, 'EC', 'RSA', 'OKP', 'oct', 'P-256', 'Ed25519', '', 'AQAB', null, -1, 1e308, [], {}),
  fc.jsonValue({ maxDepth: 2 }),
);
const anyMembers = (...names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), anyValue, { minKeys: 1, maxKeys: 3 });

describe('a hostile proof', () => {
  test.each(INHERITED)(
    'of a key of the type %s is refused, and counts against the limit of its client',
    async (kty) => {
      const answer = host(2);
      const answers = [];
      for (let turn = 0; turn < 3; turn++) answers.push(await answer(await proof(client, { jwk: { kty } })));
      expect(answers).toEqual(['401 invalid_dpop_proof', '401 invalid_dpop_proof', '429 undefined']);
    },
  );

  test('is accepted with the members of its key and no others, and is never an outage', async () => {
    const answer = host(1_000_000);
    const names = [...KEY_MEMBERS, 'use', 'alg', 'kid', 'key_ops', ...INHERITED];
    await fc.assert(
      fc.asyncProperty(anyMembers(...names), async (jwk) => {
        const changed = KEY_MEMBERS.filter((name) => Object.hasOwn(jwk, name));
        // The parser of tokens takes no `__proto__` at all.
        const isSame =
          !Object.hasOwn(jwk, '__proto__') &&
          changed.every((name) => jwk[name] === Reflect.get(client.publicJwk, name));
        expect(await answer(await proof(client, { jwk }))).toBe(isSame ? 'accepted' : '401 invalid_dpop_proof');
      }),
      { numRuns: 300 },
    );
  });

  test('is never an outage, with any claims', async () => {
    const answer = host(1_000_000);
    const names = ['htm', 'htu', 'ath', 'iat', 'exp', 'nbf', 'jti', 'nonce', ...INHERITED];
    await fc.assert(
      fc.asyncProperty(anyMembers(...names), async (claims) => {
        expect(['401 invalid_dpop_proof', 'accepted']).toContain(await answer(await proof(client, { claims })));
      }),
      { numRuns: 300 },
    );
  });
});
