import { createHash, randomBytes } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authenticator } from '../authenticate.ts';
import { type ApiKeysOptions, apiKeys, type FixedApiKey } from './api-keys.ts';
import { mintApiKey } from './format.ts';

const minted = (mode: 'live' | 'test') =>
  mintApiKey({ mode, randomBytes: (size) => new Uint8Array(randomBytes(size)) }).key;
const LIVE = minted('live');
const TEST = minted('test');
const FOREIGN = 'a-key-of-another-system-'.repeat(2);
const NOW = 1_800_000_000_000;
const grants: FixedApiKey = { tenant: 'acme', scopes: ['runs:*'] };

/** As JavaScript calls it: with any value. */
const called = (keys: unknown, options?: unknown) => () => apiKeys(keys as never, options as never);

function outcomeOf(keys: Readonly<Record<string, FixedApiKey>>, token: string, options?: ApiKeysOptions) {
  const request = new Request('https://svc.example', { headers: { authorization: `Bearer ${token}` } });
  return authenticator({ lanes: [apiKeys(keys, options)] }).authenticate(request);
}

function errorOf(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    if (error instanceof TypeError) return error;
    throw error;
  }
  throw new Error('It did not throw.');
}

describe('apiKeys', () => {
  test('authenticates a caller by its key, and refuses an unknown key', async () => {
    const outcome = await outcomeOf({ [LIVE]: grants }, LIVE);
    const hash = createHash('sha256').update(LIVE).digest('hex');
    const id = `key_${createHash('sha256').update(hash).digest('hex').slice(0, 16)}`;
    const tenancy = { tenant: 'acme', workspaces: ['main'], mode: 'live' };
    const principal = { id, credentialId: id, lane: 'api-key', tenancy, scopes: ['runs:*'] };
    expect(outcome).toMatchObject({ kind: 'authenticated', principal });
    for (const other of [FOREIGN, minted('live'), LIVE.slice(0, -1), hash])
      expect(await outcomeOf({ [LIVE]: grants }, other)).toMatchObject({ error: { code: 'unauthenticated' } });
  });

  test('judges the expiry of a key by the clock', async () => {
    const keys = { [LIVE]: { ...grants, expiresAt: NOW } };
    expect(await outcomeOf(keys, LIVE, { now: () => NOW - 1 })).toMatchObject({ kind: 'authenticated' });
    expect(await outcomeOf(keys, LIVE, { now: () => NOW })).toMatchObject({ error: { code: 'key_expired' } });
    const soon = { [LIVE]: { ...grants, expiresAt: Date.now() + 3_600_000 } };
    expect(await outcomeOf(soon, LIVE)).toMatchObject({ kind: 'authenticated' });
    const past = { [LIVE]: { ...grants, expiresAt: Date.now() - 1 } };
    expect(await outcomeOf(past, LIVE)).toMatchObject({ error: { code: 'key_expired' } });
  });

  test('tells keys of one lane apart, and their grants', async () => {
    const keys = { [LIVE]: grants, [FOREIGN]: { tenant: 'other', scopes: ['runs:read'], workspaces: 'all' } } as const;
    expect(await outcomeOf(keys, LIVE)).toMatchObject({ principal: { tenancy: { tenant: 'acme' } } });
    const tenancy = { tenant: 'other', workspaces: 'all', mode: 'live' };
    expect(await outcomeOf(keys, FOREIGN)).toMatchObject({ principal: { tenancy, scopes: ['runs:read'] } });
    const lane = apiKeys(keys);
    expect(lane.grantedScopes?.()).toEqual(['runs:*', 'runs:read']);
  });

  test('reads the keys once', async () => {
    const keys: Record<string, FixedApiKey> = { [LIVE]: grants };
    const auth = authenticator({ lanes: [apiKeys(keys)] });
    delete keys[LIVE];
    keys[FOREIGN] = grants;
    const ask = (token: string) => auth.authenticate({ headers: { authorization: `Bearer ${token}` } });
    expect(await ask(LIVE)).toMatchObject({ kind: 'authenticated' });
    expect(await ask(FOREIGN)).toMatchObject({ kind: 'refused' });
  });

  test('takes the options of the lane', async () => {
    const used: unknown[] = [];
    const options: ApiKeysOptions = {
      now: () => NOW,
      issuer: 'urn:acme:keys',
      onUsed: (id, time) => used.push([id, time]),
      isWithin: () => false,
    };
    const outcome = await outcomeOf({ [LIVE]: { ...grants, id: 'key_1' } }, LIVE, options);
    expect(outcome).toMatchObject({ principal: { subject: { issuer: 'urn:acme:keys' } } });
    expect(used).toEqual([['key_1', NOW]]);
    const closed = { [LIVE]: { ...grants, allowedAddresses: ['192.0.2.0/24'] } };
    expect(await outcomeOf(closed, LIVE, options)).toMatchObject({ kind: 'refused' });
    expect(await outcomeOf(closed, LIVE, { isWithin: () => true })).toMatchObject({ kind: 'authenticated' });
  });
});

describe('the mode', () => {
  test.each([
    [TEST, undefined, 'test'],
    [TEST, 'test', 'test'],
    [LIVE, undefined, 'live'],
    [LIVE, 'test', 'test'],
    [FOREIGN, undefined, 'live'],
  ] as const)('case %#: is that of the key unless it is given', async (key, mode, expected) => {
    const outcome = await outcomeOf({ [key]: { ...grants, mode } }, key);
    expect(outcome).toMatchObject({ principal: { tenancy: { mode: expected } } });
  });

  test('live is refused for a test key', () => {
    expect(called({ [TEST]: { ...grants, mode: 'live' } })).toThrow(
      /^apiKeys: key 1 \(tenant acme\) begins with svc_test_ and has the mode live\. Leave mode out, /,
    );
  });
});

describe('a key', () => {
  test.each([
    ['undefined', 'is undefined. Set its environment variable.'],
    ['', 'is empty. Set its environment variable.'],
    ['short', 'has 5 characters. Pass a key of 32 to 512 letters, '],
    ['__proto__', 'has 9 characters. '],
    ['a'.repeat(31), 'has 31 characters. '],
    ['a'.repeat(513), 'has 513 characters. '],
    [`${'a'.repeat(40)} b`, 'has 42 characters and a wrong form or checksum. '],
    [`${LIVE.slice(0, -1)}${LIVE.endsWith('0') ? '1' : '0'}`, 'has 81 characters and a wrong form or checksum. '],
  ])('case %#: is refused by its position and its tenant', (key, problem) => {
    const keys = Object.fromEntries([
      [LIVE, grants],
      [key, { ...grants, tenant: 'beta' }],
    ]);
    const { message } = errorOf(called(keys));
    expect(message.startsWith(`apiKeys: key 2 (tenant beta) ${problem}`), message).toBe(true);
  });

  test('is in no error', () => {
    const key = fc.oneof(
      fc.constantFrom(LIVE, TEST, FOREIGN),
      fc.stringMatching(/^[A-Za-z0-9!§]{12,31}$/),
      fc.stringMatching(/^[A-Za-z0-9._~+/ -]{32,600}$/),
    );
    const place = fc.constantFrom('id', 'tenant', 'principal', 'workspaces', 'scopes', 'mode', 'expiresAt', 'a key');
    fc.assert(
      fc.property(key, place, fc.boolean(), (secret, field, isListed) => {
        const value = isListed ? [secret] : secret;
        const wrong = field === 'a key' ? { [secret]: grants } : { [field]: value };
        const { message } = errorOf(called({ [secret]: { ...grants, ...wrong } }));
        expect(message).toMatch(/^apiKeys: /);
        // A name that is too short to be a key is one of an option.
        if (field !== 'a key' || secret.length >= 32) expect(message).not.toContain(secret);
      }),
    );
    for (const wrong of [{ [LIVE]: grants }, { now: 1, [LIVE]: grants }]) {
      const { message } = errorOf(called({ [FOREIGN]: grants }, wrong));
      expect(message).toMatch(
        /^apiKeys: has an unknown name that may be a key\. Pass all keys in the first argument\./,
      );
    }
  });
});

describe('the keys', () => {
  test('must be one at least', () => {
    expect(called({})).toThrow(/^apiKeys: needs at least one key\. Pass \{ \[key\]: /);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a key alone', LIVE],
    ['a list', [{ ...grants, key: LIVE }]],
    ['a map', new Map([[LIVE, grants]])],
    ['inherited keys', Object.create({ [LIVE]: grants })],
    ['keys in a prototype without one', Object.create(Object.assign(Object.create(null), { [LIVE]: grants }))],
    ['an object of a class', new (class Keys {})()],
  ])('are refused as %s', (_name, keys) => {
    expect(called(keys)).toThrow(
      /^apiKeys: keys must be a plain object, from each key to its grants\. Pass \{ \[key\]: /,
    );
    expect(errorOf(called(keys)).message).not.toContain(LIVE);
  });

  test('may come from a file, another realm, or an object without a prototype', async () => {
    const bare: Record<string, FixedApiKey> = Object.assign(Object.create(null), { [LIVE]: grants });
    const foreign = runInNewContext(`(${JSON.stringify({ [LIVE]: grants })})`);
    for (const keys of [bare, foreign, JSON.parse(JSON.stringify(bare))])
      expect(await outcomeOf(keys, LIVE)).toMatchObject({ kind: 'authenticated' });
  });

  test('have ids that differ', () => {
    const same = { ...grants, id: 'key_1' };
    expect(called({ [LIVE]: same, [FOREIGN]: same })).toThrow(/^apiKeys: key 2 \(tenant acme\): id must be unique\. /);
  });
});

describe('the grants', () => {
  test.each([
    ['undefined', undefined, /^apiKeys: key 1: its grants must be a plain object\. Pass /],
    ['a text', 'acme', /^apiKeys: key 1: its grants must be a plain object\. Pass /],
    ['a list', [grants], /^apiKeys: key 1: its grants must be a plain object\. Pass /],
    ['inherited', Object.create(grants), /: its grants must be a plain object\. Pass /],
    ['without a tenant', { scopes: ['runs:*'] }, /^apiKeys: key 1: tenant must be an opaque id/],
    ['without scopes', { tenant: 'acme' }, /^apiKeys: key 1 \(tenant acme\): scopes must be a list of scopes/],
    [
      'a near miss',
      { ...grants, workspace: 'all' },
      /^apiKeys: key 1 \(tenant acme\): unknown option workspace\. Did you mean workspaces\?/,
    ],
    [
      'a hash',
      { ...grants, hash: 'ab' },
      /^apiKeys: key 1 \(tenant acme\): unknown option hash\. Its options are tenant, /,
    ],
    ['a wrong mode', { ...grants, mode: 'prod' }, /^apiKeys: key 1 \(tenant acme\): mode must be live or test\./],
    ['a wrong expiry', { ...grants, expiresAt: '2030' }, /: expiresAt must be a time in milliseconds/],
    ['the key as id', { ...grants, id: LIVE }, /: id must not hold a key\. Pass another value\./],
  ])('are refused: %s', (_name, wrong, message) => {
    expect(called({ [LIVE]: wrong })).toThrow(message);
    expect(called({ [LIVE]: wrong })).toThrow(TypeError);
  });
});

test.each([
  [{ now: 7 }, 'apiKeys: now must be a function. Omit it, or pass Date.now.'],
  [{ now: null }, 'apiKeys: now must be a function. Omit it, or pass Date.now.'],
  [{ issuer: 'a b' }, 'apiKeys: issuer must be a URI or URN of at most 1024 characters, without white space.'],
  [{ keys: [] }, 'apiKeys: unknown option keys. Its options are now, issuer, onUsed, isWithin.'],
  [null, 'apiKeys: its options must be an object.'],
])('rejects the options %j', (options, message) => {
  expect(called({ [LIVE]: grants }, options)).toThrow(new TypeError(message));
});
