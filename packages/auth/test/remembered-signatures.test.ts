import { type AuthOutcome, authenticator, type CredentialFacts, type RequestHead } from '@svc/auth';
import { bearerLane, type KeySource, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { proofMaker } from './proofs.ts';
import { keySetOf, type Signer, signer } from './tokens.ts';

const START = Date.UTC(2026, 5, 1);
const ISSUER = 'https://idp.example.com';
const ORIGIN = 'https://svc.example.com';
const second = START / 1000;

/** Two keys with one id: a key set that replaces the one by the other keeps the name of the key. */
const [first, replacement, other] = [
  await signer('ES256', 'k'),
  await signer('ES256', 'k'),
  await signer('ES256', 'other'),
];
const client = await proofMaker();
const thief = await proofMaker();

const claims = {
  iss: ISSUER,
  aud: 'svc',
  sub: 'u_1',
  iat: second,
  exp: second + 600,
  svc_tenant: 'acme',
  svc_workspaces: ['*'],
  scope: 'runs:read',
};
const signed = (by: Signer, changes: object = {}) => by.sign({ ...claims, ...changes }, { typ: 'JWT' });

/** Tokens that some rule accepts or refuses, at some times, with some keys. */
const TOKENS = await Promise.all([
  signed(first),
  signed(replacement),
  signed(other, { jti: 'of another key' }),
  signed(first, { exp: second + 120, jti: 'short' }),
  signed(first, { nbf: second + 120, jti: 'later' }),
  signed(first, { aud: 'another', jti: 'elsewhere' }),
  signed(first, { svc_tenant: undefined }),
  signed(first, { sub: 'u_2' }),
  signed(first, { cnf: { jkt: client.thumbprint } }),
  signed(first, { cnf: {} }),
]);

interface World {
  time: number;
  keys: KeySource | undefined;
  isLate: boolean;
  readonly disabled: Set<string>;
  readonly denied: Set<string>;
  audience: string;
  senderConstrained: boolean;
  looksUp: boolean;
}

function hostOf(world: World, rememberedTokens: number) {
  const now = () => world.time;
  const keys: KeySource = {
    find(wanted) {
      if (world.keys === undefined) throw new Error('The keys are unavailable.');
      const found = world.keys.find(wanted);
      return world.isLate ? Promise.resolve(found) : found;
    },
  };
  const { audience, senderConstrained } = world;
  const isDisabled = world.looksUp ? { isDisabled: (subject: string) => world.disabled.has(subject) } : {};
  const issuer = { issuer: ISSUER, audience, profile: 'user' as const, keys, senderConstrained, ...isDisabled };
  const dpop = dpopVerifier({ origin: ORIGIN, replays: memoryReplayStore({ now, monotonic: now }), now });
  const denyList = { isDenied: ({ tokens }: CredentialFacts) => tokens.some(({ jti }) => world.denied.has(jti ?? '')) };
  return authenticator({ denyList, lanes: [bearerLane({ issuers: [issuer], dpop, now, rememberedTokens })] });
}

const KEY_SETS: readonly (KeySource | undefined)[] = [
  localKeys(keySetOf(first)),
  localKeys(keySetOf(first)),
  localKeys(keySetOf(replacement)),
  localKeys(keySetOf(first, other)),
  localKeys(keySetOf(other)),
  undefined,
];

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('present' as const),
      token: fc.nat(TOKENS.length - 1),
      scheme: fc.constantFrom('Bearer', 'DPoP'),
      proof: fc.constantFrom('own', 'foreign', 'again', 'none'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('keys' as const),
      set: fc.nat(KEY_SETS.length - 1),
      isLate: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('clock' as const), bySeconds: fc.integer({ min: -900, max: 900 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('disable' as const), subject: fc.constantFrom('u_1', 'u_2') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deny' as const), jti: fc.constantFrom('short', 'later') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('configure' as const),
      audience: fc.constantFrom('svc', 'another'),
      senderConstrained: fc.boolean(),
      looksUp: fc.boolean(),
    }),
  },
);

/** Proofs are signed once for each second, because signing takes most of the time of this test. */
const proofs = new Map<string, Promise<string>>();

async function requestOf(
  { token, scheme, proof }: { token: number; scheme: string; proof: string },
  time: number,
): Promise<RequestHead> {
  const text = TOKENS[token] ?? '';
  const maker = proof === 'foreign' ? thief : client;
  const at = Math.floor(time / 1000);
  const name = `${proof} ${token} ${at}`;
  const make = () => maker.proof({ htm: 'GET', htu: `${ORIGIN}/runs`, token: text, iat: at });
  // `again` presents one proof twice; `own` may do so, too, when the clock stands still.
  const made = proofs.get(name) ?? make();
  proofs.set(name, made);
  return {
    method: 'GET',
    url: '/runs',
    headers: { authorization: `${scheme} ${text}`, ...(proof !== 'none' && { dpop: await made }) },
  };
}

function verdictOf(outcome: AuthOutcome): unknown {
  if (outcome.kind === 'authenticated') return outcome;
  const { code, status, message, reason, fault, headers } = outcome.error;
  return { code, status, message, reason, fault, headers };
}

describe(covers('auth.bearer.validated-first'), () => {
  test('a host that remembers signatures gives the verdicts of one that verifies each, over random histories', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        const world: World = {
          time: START + 1000,
          keys: KEY_SETS[0],
          isLate: false,
          disabled: new Set(),
          denied: new Set(),
          audience: 'svc',
          senderConstrained: false,
          looksUp: false,
        };
        // Few, so that tokens are forgotten and come back.
        let [remembering, verifying] = [hostOf(world, 6), hostOf(world, 0)];
        for (const each of steps) {
          if (each.kind === 'present') {
            const request = await requestOf(each, world.time);
            const expected = verdictOf(await verifying.authenticate(request));
            expect(verdictOf(await remembering.authenticate(request))).toEqual(expected);
          } else if (each.kind === 'keys') {
            world.keys = KEY_SETS[each.set];
            world.isLate = each.isLate;
          } else if (each.kind === 'clock') world.time += each.bySeconds * 1000;
          else if (each.kind === 'disable') world.disabled.add(each.subject);
          else if (each.kind === 'deny') world.denied.add(each.jti);
          else {
            const { kind: _, ...rules } = each;
            Object.assign(world, rules);
            [remembering, verifying] = [hostOf(world, 6), hostOf(world, 0)];
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a remembered signature', () => {
  afterEach(() => vi.restoreAllMocks());

  const fresh = (): World => ({
    time: START + 1000,
    keys: KEY_SETS[0],
    isLate: false,
    disabled: new Set(),
    denied: new Set(),
    audience: 'svc',
    senderConstrained: false,
    looksUp: false,
  });
  const bearing = (token = ''): RequestHead => ({ headers: { authorization: `Bearer ${token}` } });
  const present = async (host: ReturnType<typeof hostOf>, token: string | undefined) =>
    (await host.authenticate(bearing(token))).kind;

  test.each([
    [0, 3],
    [1, 3],
    [2, 1],
    [10_000, 1],
  ])('with room for %i tokens, three requests with one token verify %i signatures', async (room, expected) => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const host = hostOf(fresh(), room);
    for (let turn = 0; turn < 3; turn++) expect(await present(host, TOKENS[0])).toBe('authenticated');
    expect(verify).toHaveBeenCalledTimes(expected);
  });

  test('is bound to the very key: an equal key that was fetched anew verifies it again', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const world = fresh();
    const host = hostOf(world, 100);
    await present(host, TOKENS[0]);
    world.keys = KEY_SETS[1];
    expect(await present(host, TOKENS[0])).toBe('authenticated');
    expect(verify).toHaveBeenCalledTimes(2);
  });

  test('is of one exact text: a token with another signature is verified, however long the part is that it shares', async () => {
    const host = hostOf(fresh(), 100);
    const [token = '', altered = ''] = [TOKENS[0], TOKENS[3]];
    await present(host, token);
    const signature = altered.slice(altered.lastIndexOf('.'));
    expect(await present(host, token.slice(0, token.lastIndexOf('.')) + signature)).toBe('refused');
    expect(await present(host, `${token.slice(0, -4)}AAAA`)).toBe('refused');
  });

  test('is not made by an invalid token, so strangers cannot make the host forget valid ones', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const host = hostOf(fresh(), 2);
    await present(host, TOKENS[0]);
    for (let turn = 0; turn < 20; turn++) await present(host, `${TOKENS[0]?.slice(0, -4)}A${10 + turn}A`);
    verify.mockClear();
    expect(await present(host, TOKENS[0])).toBe('authenticated');
    expect(verify).not.toHaveBeenCalled();
  });

  test('gives each request its own principal: a change of one does not reach the next', async () => {
    const host = hostOf(fresh(), 100);
    const principalOf = async () => {
      const outcome = await host.authenticate(bearing(TOKENS[0]));
      if (outcome.kind !== 'authenticated') throw outcome.error;
      return outcome.principal;
    };
    const changed = await principalOf();
    Object.assign(changed.tenancy, { tenant: 'other' });
    Object.assign(changed.scopes, ['*:*']);
    Object.assign(changed.subject, { subjectId: 'u_2' });
    const again = await principalOf();
    Object.assign(again.tenancy, { workspaces: ['other'] });
    Object.assign(again.scopes, ['*:*']);
    expect(await principalOf()).toMatchObject({
      tenancy: { tenant: 'acme', workspaces: 'all' },
      scopes: ['runs:read'],
      subject: { subjectId: 'u_1' },
    });
  });

  test('does not remember the names that a function of the host gives', async () => {
    let turn = 0;
    const issuer = { issuer: ISSUER, audience: 'svc', profile: 'user' as const, keys: localKeys(keySetOf(first)) };
    const lane = bearerLane({ issuers: [{ ...issuer, principalOf: () => `p_${turn++}` }], now: () => START + 1000 });
    const host = authenticator({ lanes: [lane] });
    for (const id of ['p_0', 'p_1', 'p_2'])
      expect(await host.authenticate(bearing(TOKENS[0]))).toMatchObject({ principal: { id } });
  });

  test.each([-1, 1.5, Number.NaN, '10'])('room for %s tokens is refused', (rememberedTokens) => {
    const issuers = [{ issuer: ISSUER, audience: 'svc', profile: 'user' as const, keys: localKeys(keySetOf(first)) }];
    const options = { issuers, now: () => START, rememberedTokens: rememberedTokens as number };
    expect(() => bearerLane(options)).toThrow(/^bearerLane: rememberedTokens must be a whole number/);
  });
});
