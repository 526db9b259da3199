import { authenticator, type RequestHead } from '@svc/auth';
import { localKeys, pseudonyms, remoteKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import {
  clientSecretBasic,
  type IntrospectionFetch,
  type IntrospectionLaneOptions,
  introspectionLane,
  privateKeyJwt,
} from '@svc/auth/introspection';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { covers } from '@svc/tools/covers';
import {
  type IdentityProvider,
  OPAQUE_RESOURCE,
  READER_SECRET,
  READERS,
  startIdentityProvider,
} from '@svc/tools/identity-provider';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const idpKey = await privateJwk('idp');
const reader = await generateKeyPair('ES256', { extractable: true });
let provider: IdentityProvider;

beforeAll(async () => {
  const readerKey = { ...(await exportJWK(reader.publicKey)), kid: 'reader', alg: 'ES256', use: 'sig' };
  provider = await startIdentityProvider({ keys: [idpKey], readerKey });
});
afterAll(() => provider.stop());

/** Without the signal of its time limit: a busy machine must not turn a slow answer into an outage. */
const unhurried: IntrospectionFetch = (url, { signal: _, ...init }) => fetch(url, init);

function laneAt(changes: Partial<IntrospectionLaneOptions> = {}) {
  return introspectionLane({
    issuer: provider.issuer,
    endpoint: `${provider.issuer}/token/introspection`,
    audience: OPAQUE_RESOURCE,
    client: clientSecretBasic({ clientId: READERS.basic, clientSecret: READER_SECRET }),
    principalOf: pseudonyms(new Uint8Array(32)),
    timeoutMs: 60_000,
    fetch: unhurried,
    ...changes,
  });
}

const bearing = (token: unknown, scheme = 'Bearer'): RequestHead => ({
  headers: { authorization: `${scheme} ${token}` },
});

describe(`${covers('auth.bearer.validated-first')}, by introspection at a real provider`, () => {
  const clients = () => ({
    'a secret': clientSecretBasic({ clientId: READERS.basic, clientSecret: READER_SECRET }),
    'a private key': privateKeyJwt({
      ...{ clientId: READERS.key, key: reader.privateKey, algorithm: 'ES256', keyId: 'reader' },
      newId: () => crypto.randomUUID(),
    }),
  });

  test.each(['a secret', 'a private key'] as const)('authenticates a machine, asking with %s', async (way) => {
    const { access_token: token } = await provider.clientToken({ resource: OPAQUE_RESOURCE });
    expect(String(token)).not.toContain('.');
    const auth = authenticator({ lanes: [laneAt({ client: clients()[way] })] });
    expect(await auth.authenticate(bearing(token))).toMatchObject({
      kind: 'authenticated',
      principal: {
        id: expect.stringMatching(/^p_[0-9a-f]{40}$/),
        lane: 'oauth2',
        binding: 'bearer',
        tenancy: { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' },
        scopes: ['runs:read'],
      },
    });
  });

  test('authenticates a person, with the mapping of the lane for signed tokens', async () => {
    const { access_token: token } = await provider.userTokens('ada@example.com', OPAQUE_RESOURCE);
    const outcome = await authenticator({ lanes: [laneAt()] }).authenticate(bearing(token));
    expect(outcome).toMatchObject({ kind: 'authenticated', principal: { kind: 'user', lane: 'oidc' } });
    expect(JSON.stringify(outcome.kind === 'authenticated' && outcome.principal.subject)).not.toMatch(/\bada\b/);
  });

  test('refuses a person where machines alone are accepted, a token for another host, and a wrong secret as an outage', async () => {
    const { access_token: person } = await provider.userTokens('ada', OPAQUE_RESOURCE);
    const { access_token: machine } = await provider.clientToken({ resource: OPAQUE_RESOURCE });
    const client = clientSecretBasic({ clientId: READERS.basic, clientSecret: 'wrong' });
    const judge = async (token: unknown, changes: Partial<IntrospectionLaneOptions>) => {
      const outcome = await authenticator({ lanes: [laneAt(changes)] }).authenticate(bearing(token));
      return outcome.kind === 'refused' && [outcome.error.status, outcome.error.code, outcome.error.reason];
    };
    expect(await judge(person, { profiles: ['client'] })).toEqual([401, 'unauthenticated', 'token-type']);
    expect(await judge(machine, { audience: 'https://other.example.com' })).toEqual([
      ...[401, 'audience_mismatch', 'audience'],
    ]);
    expect(await judge(machine, { client })).toEqual([503, 'service_unavailable', 'issuer']);
  });

  test('accepts a revoked token until the answer is too old, and no longer', async () => {
    let time = Date.now();
    const auth = authenticator({ lanes: [laneAt({ now: () => time, maxAgeSeconds: 30 })] });
    const { access_token: token } = await provider.clientToken({ resource: OPAQUE_RESOURCE });
    expect(await auth.authenticate(bearing(token))).toMatchObject({ kind: 'authenticated' });
    await provider.revoke(String(token));
    time += 29_000;
    expect(await auth.authenticate(bearing(token))).toMatchObject({ kind: 'authenticated' });
    time += 2000;
    expect(await auth.authenticate(bearing(token))).toMatchObject({
      kind: 'refused',
      error: {
        ...{ status: 401, code: 'unauthenticated', reason: 'inactive' },
        headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      },
    });
  });

  test('reads signed answers, and then no others', async () => {
    const { access_token: token } = await provider.clientToken({ resource: OPAQUE_RESOURCE });
    const answerKeys = remoteKeys({ issuer: provider.issuer, fetch, timeoutMs: 60_000 });
    const kindOf = async (changes: Partial<IntrospectionLaneOptions>) => {
      const outcome = await authenticator({ lanes: [laneAt(changes)] }).authenticate(bearing(token));
      return outcome.kind === 'refused' ? `${outcome.error.code}: ${outcome.error.cause}` : outcome.kind;
    };
    expect(await kindOf({ answerKeys })).toBe('authenticated');
    const foreign = localKeys(keySetOf(await signer('ES256', 'idp')));
    expect(await kindOf({ answerKeys: foreign })).toMatch(/^service_unavailable: .*signature is invalid/);
    const plain: IntrospectionFetch = (url, init) =>
      unhurried(url, { ...init, headers: { ...init.headers, accept: 'application/json' } });
    expect(await kindOf({ answerKeys, fetch: plain })).toMatch(/^service_unavailable: .*must be a signed JWT/);
    const audience = 'https://other.example.com';
    const client = {
      ...clientSecretBasic({ clientId: READERS.basic, clientSecret: READER_SECRET }),
      clientId: 'other',
    };
    expect(await kindOf({ answerKeys, audience, client })).toMatch(/^service_unavailable: .*for another reader/);
  });

  test('accepts a token that is bound to a key with a proof of that key alone', async () => {
    const [client, thief] = [await proofMaker(), await proofMaker()];
    const dpop = await client.proof({ htm: 'POST', htu: `${provider.issuer}/token` });
    const { access_token: token } = await provider.clientToken({ dpop, resource: OPAQUE_RESOURCE });
    const verifier = dpopVerifier({
      ...{ origin: OPAQUE_RESOURCE, windowSeconds: 300 },
      replays: memoryReplayStore(),
    });
    const auth = authenticator({ lanes: [laneAt({ dpop: verifier })] });
    const request = async (maker: typeof client) => ({
      ...{ method: 'GET', url: '/runs' },
      headers: {
        authorization: `DPoP ${token}`,
        dpop: await maker.proof({ htm: 'GET', htu: `${OPAQUE_RESOURCE}/runs`, token: String(token) }),
      },
    });
    const used = await request(client);
    expect(await auth.authenticate(used)).toMatchObject({ kind: 'authenticated', principal: { binding: 'dpop' } });
    expect(await auth.authenticate(used)).toMatchObject({ error: { reason: 'proof-used' } });
    expect(await auth.authenticate(await request(thief))).toMatchObject({ error: { reason: 'proof' } });
    expect(await auth.authenticate(bearing(token))).toMatchObject({ error: { code: 'sender_constraint_missing' } });
  });
});

const NOW = Date.UTC(2026, 5, 1);
const second = NOW / 1000;
const ISSUER = 'https://idp.example.com';
const ANSWER = {
  ...{ active: true, iss: ISSUER, aud: 'svc', sub: 'u_1', client_id: 'app', exp: second + 100, token_type: 'Bearer' },
  ...{ svc_tenant: 'acme', svc_workspaces: ['*'], scope: 'runs:read' },
};

/** A host whose issuer answers as the test says. */
function hostWith(answer: () => unknown, changes: Partial<IntrospectionLaneOptions> = {}, limit = 100) {
  const world = { time: NOW, asked: [] as string[] };
  const limiter = memoryRateLimiter({ limit, windowSeconds: 60, now: () => world.time });
  const lane = introspectionLane({
    ...{ issuer: ISSUER, endpoint: `${ISSUER}/introspect`, audience: 'svc', now: () => world.time },
    client: clientSecretBasic({ clientId: 'svc', clientSecret: 's' }),
    fetch: async (_url, { body }) => {
      world.asked.push(new URLSearchParams(body).get('token') ?? '');
      const made = await answer();
      return made instanceof Response ? made : new Response(JSON.stringify(made));
    },
    ...changes,
  });
  const host = authenticator({ lanes: [lane], refusals: { limiter, clientOf: () => 'client' } });
  const judge = async (token = 'opaque') => {
    const outcome = await host.authenticate(bearing(token));
    return outcome.kind === 'refused' ? outcome.error.reason : outcome.kind;
  };
  return { world, judge, host, limiter };
}

describe('an answer of an issuer', () => {
  test.each<[string, unknown, string]>([
    ['is accepted', ANSWER, 'authenticated'],
    ['without iss is of the issuer that was asked', { ...ANSWER, iss: undefined }, 'authenticated'],
    ['without sub is of the machine client_id', { ...ANSWER, sub: undefined }, 'authenticated'],
    ['that the token is not active refuses', { active: false }, 'inactive'],
    ['with active and nothing else refuses', { active: true }, 'audience'],
    ['of another issuer refuses', { ...ANSWER, iss: 'https://other.example.com' }, 'signing-key'],
    ['about a refresh token refuses', { ...ANSWER, token_type: 'refresh_token' }, 'token-type'],
    ['about a DPoP token without cnf refuses', { ...ANSWER, token_type: 'DPoP' }, 'token-type'],
    ['with cnf refuses a bearer', { ...ANSWER, cnf: { jkt: 'x' } }, 'sender'],
    ['with an empty cnf refuses a bearer', { ...ANSWER, cnf: {} }, 'sender'],
    ['for another host refuses', { ...ANSWER, aud: ['other'] }, 'audience'],
    ['without aud refuses', { ...ANSWER, aud: undefined }, 'audience'],
    ['without exp refuses', { ...ANSWER, exp: undefined }, 'claims'],
    ['with exp as a text refuses', { ...ANSWER, exp: String(second + 100) }, 'claims'],
    ['that has expired refuses', { ...ANSWER, exp: second - 61 }, 'expired'],
    ['of later refuses', { ...ANSWER, nbf: second + 61 }, 'time'],
    ['with too long a life refuses', { ...ANSWER, exp: second + 86_500 }, 'lifetime'],
    ['without a tenant refuses', { ...ANSWER, svc_tenant: undefined }, 'grants'],
    ['without sub and client_id refuses', { ...ANSWER, sub: undefined, client_id: undefined }, 'claims'],
    ['about a person without sub refuses', { ...ANSWER, sub: undefined, username: 'ada' }, 'claims'],
    ['with active as a text is no answer', { ...ANSWER, active: 'true' }, 'issuer'],
    ['without active is no answer', { ...ANSWER, active: undefined }, 'issuer'],
    ['that is a list is no answer', [], 'issuer'],
    ['with a repeated name is no answer', new Response('{"active":false,"active":true}'), 'issuer'],
    ['of the status 500 is no answer', new Response('{"active":true}', { status: 500 }), 'issuer'],
    [
      'that redirects is no answer',
      new Response('', { status: 307, headers: { location: 'https://x.example' } }),
      'issuer',
    ],
    ['larger than 64 KiB is no answer', new Response(`{"active":true,"x":"${'x'.repeat(70_000)}"}`), 'issuer'],
  ])('%s', async (_title, answer, expected) => {
    expect(await hostWith(() => answer).judge()).toBe(expected);
  });
});

describe('answers in memory', () => {
  test.each<[string, object, Partial<IntrospectionLaneOptions>, number, number]>([
    ['that a token is active, for maxAgeSeconds', ANSWER, { maxAgeSeconds: 30 }, 29_999, 30_000],
    ['that a token is active, never after exp', { ...ANSWER, exp: second + 10 }, { maxAgeSeconds: 30 }, 9999, 10_000],
    ['that a token is not active, for inactiveSeconds', { active: false }, { inactiveSeconds: 5 }, 4999, 5000],
  ])('are used: %s', async (_title, answer, changes, within, after) => {
    const { world, judge } = hostWith(() => answer, changes);
    await judge();
    world.time = NOW + within;
    await judge();
    expect(world.asked).toHaveLength(1);
    world.time = NOW + after;
    await judge();
    expect(world.asked).toHaveLength(2);
    // A clock that is set back makes an answer old, never young.
    world.time = NOW - 1000;
    await judge();
    expect(world.asked).toHaveLength(3);
  });

  test('are none with 0 seconds, and of one exact token', async () => {
    const none = hostWith(() => ANSWER, { maxAgeSeconds: 0 });
    await none.judge();
    await none.judge();
    expect(none.world.asked).toHaveLength(2);
    const some = hostWith(() => ANSWER);
    for (const token of ['opaque', 'opaque.', 'Opaque', 'opaque']) await some.judge(token);
    expect(some.world.asked).toEqual(['opaque', 'opaque.', 'Opaque']);
  });

  test('are bounded, and guesses push no accepted token out', async () => {
    const { world, host } = hostWith(() => (world.asked.at(-1) === 'good' ? ANSWER : { active: false }), {
      maxEntries: 2,
    });
    expect((await host.authenticate(bearing('good'))).kind).toBe('authenticated');
    for (let turn = 0; turn < 3; turn++) await host.authenticate(bearing(`guess-${turn}`));
    const before = world.asked.length;
    expect((await host.authenticate(bearing('good'))).kind).toBe('authenticated');
    expect(world.asked).toHaveLength(before);
  });

  test('are asked for once by any number of callers, and by a bounded number of tokens', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { world, judge } = hostWith(() => gate.then(() => ANSWER), { maxPending: 2 });
    const same = Array.from({ length: 20 }, () => judge('one'));
    const second = judge('two');
    expect(await judge('three')).toBe('issuer');
    open();
    expect(new Set(await Promise.all([...same, second]))).toEqual(new Set(['authenticated']));
    expect(world.asked).toEqual(['one', 'two']);
    expect(await judge('three')).toBe('authenticated');
  });
});

describe('an issuer that fails', () => {
  test.each<[string, () => unknown, Partial<IntrospectionLaneOptions>]>([
    ['refuses connections', () => Promise.reject(new Error('connection refused at 10.0.0.7')), {}],
    ['answers with an error', () => new Response('10.0.0.7', { status: 502 }), {}],
    ['never answers', () => new Promise(() => undefined), { timeoutMs: 20 }],
  ])('and %s refuses no caller for good: 503, not counted, not remembered', async (_title, failure, changes) => {
    let isDown = true;
    const { host, judge, limiter } = hostWith(() => (isDown ? failure() : ANSWER), changes);
    for (let turn = 0; turn < 5; turn++) {
      expect(await host.authenticate(bearing('opaque'))).toMatchObject({
        kind: 'refused',
        error: {
          ...{ status: 503, code: 'service_unavailable', fault: 'host', rejected: false },
          headers: { 'retry-after': '5' },
          message: expect.not.stringContaining('10.0.0.7'),
        },
      });
    }
    expect(await limiter.peek('client')).toMatchObject({ remaining: 100 });
    isDown = false;
    expect(await judge()).toBe('authenticated');
  });

  test('does not learn the API keys of the host, nor tokens of other issuers', async () => {
    const other = await signer('ES256');
    const foreign = await other.sign({ iss: 'https://other.example.com' });
    const { world, judge } = hostWith(() => ANSWER);
    for (const token of [`svc_live_${'0'.repeat(72)}`, 'svc_test_x', foreign])
      expect(await judge(token)).toBe('unknown');
    expect(world.asked).toEqual([]);
    const own = await other.sign({ iss: ISSUER });
    expect(await judge(own)).toBe('authenticated');
  });

  test('limits the questions of a client whose credentials are refused', async () => {
    const { world, judge } = hostWith(() => ({ active: false }), {}, 3);
    const reasons: string[] = [];
    for (let turn = 0; turn < 6; turn++) reasons.push(await judge(`guess-${turn}`));
    expect(reasons).toEqual(['inactive', 'inactive', 'inactive', 'budget', 'budget', 'budget']);
    expect(world.asked.length).toBeLessThanOrEqual(4);
  });
});

describe('introspectionLane', () => {
  test.each<[object, RegExp]>([
    [{ issuer: 'http://idp.example.com' }, /issuer must be an https URL/],
    [{ endpoint: 'https://idp.example.com/x?y' }, /endpoint must be an https URL/],
    [{ client: undefined }, /client must be made by/],
    [{ fetch: 1 }, /fetch must be a function/],
    [{ audience: [] }, /audience must be/],
    [{ profiles: ['machine'] }, /profiles must be/],
    [{ maxAgeSeconds: 301 }, /maxAgeSeconds must be 0 to 300/],
    [{ inactiveSeconds: -1 }, /inactiveSeconds must be 0 to 60/],
    [{ maxEntries: 0 }, /maxEntries must be/],
    [{ timeoutMs: Number.NaN }, /timeoutMs must be/],
    [{ maxAge: 1 }, /unknown option maxAge/],
  ])('rejects %o', (changes, message) => {
    expect(() => hostWith(() => ANSWER, changes)).toThrow(message);
  });

  test('a client needs an id and a secret', () => {
    expect(() => clientSecretBasic({ clientId: 'svc', clientSecret: '' })).toThrow(/clientSecret must be a text/);
  });
});

async function privateJwk(kid: string) {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' };
}
