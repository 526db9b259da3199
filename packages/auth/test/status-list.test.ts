import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { authenticator } from '@svc/auth';
import { bearerLane, type KeySource, localKeys, type TokenIssuer } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { type StatusListsOptions, statusLists } from '@svc/auth/status-list';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { proofMaker } from './proofs.ts';
import { keySetOf, type Signer, signer } from './tokens.ts';

const ISSUER = 'https://idp.example.com';
const ORIGIN = 'https://svc.example.com';
const START = Date.UTC(2026, 5, 1);
const [idp, stranger] = await Promise.all([signer('ES256', 'idp'), signer('ES256', 'idp')]);
const client = await proofMaker();

/** A real server of lists, which counts its requests. */
let server: Server;
let root: string;
let serve: RequestListener;
let asked: string[] = [];
let time = START;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lists/`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked = [];
  time = START;
});
afterEach(() => server.closeAllConnections());

const seconds = () => Math.floor(time / 1000);
const packed = (statuses: readonly number[], bits: number) => {
  const bytes = Buffer.alloc(Math.ceil((statuses.length * bits) / 8));
  for (const [index, status] of statuses.entries()) {
    const at = index * bits;
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (status << (at & 7));
  }
  return deflateSync(bytes).toString('base64url');
};

interface ListParts {
  readonly statuses?: readonly number[];
  readonly bits?: number;
  readonly claims?: object;
  readonly header?: object;
  readonly by?: Signer;
}

/** Signs a list as the issuer does. */
function listToken({ statuses = [0, 1, 2, 3], bits = 2, claims = {}, header = {}, by = idp }: ListParts = {}) {
  const list = { sub: `${root}1`, iat: seconds(), status_list: { bits, lst: packed(statuses, bits) } };
  return by.sign({ ...list, ...claims }, { typ: 'statuslist+jwt', ...header });
}

/** Serves a list, made anew for each request. */
function serving(parts: () => ListParts = () => ({})): void {
  serve = async (_, response) => response.end(await listToken(parts()));
}

const status = (idx: unknown, uri: unknown = `${root}1`) => ({ status: { status_list: { idx, uri } } });
const token = (claims: object) =>
  idp.sign(
    {
      ...{ iss: ISSUER, aud: 'svc', sub: 'u_1', iat: START / 1000, exp: START / 1000 + 7200 },
      ...{ svc_tenant: 'acme', svc_workspaces: ['*'], scope: 'runs:read' },
      ...claims,
    },
    { typ: 'JWT' },
  );

interface HostParts {
  readonly lists?: Partial<StatusListsOptions>;
  readonly issuer?: Partial<TokenIssuer>;
  readonly withoutLists?: boolean;
  readonly rememberedTokens?: number;
  readonly limit?: number;
}

function hostWith(parts: HostParts = {}) {
  const now = () => time;
  const lists = statusLists({ uris: [root], fetch, timeoutMs: 60_000, ...parts.lists });
  const issuer = { issuer: ISSUER, audience: 'svc', profile: 'user' as const, keys: localKeys(keySetOf(idp)) };
  const dpop = dpopVerifier({ origin: ORIGIN, replays: memoryReplayStore({ now, monotonic: now }), now });
  const { rememberedTokens = 100, limit = 1000 } = parts;
  const issuers = [{ ...issuer, ...(parts.withoutLists !== true && { statusLists: lists }), ...parts.issuer }];
  const auth = authenticator({
    lanes: [bearerLane({ issuers, dpop, now, rememberedTokens })],
    refusals: { limiter: memoryRateLimiter({ limit, windowSeconds: 3600, now }), clientOf: () => 'client' },
  });
  return async (text: string, head: Readonly<Record<string, string>> = {}) => {
    const outcome = await auth.authenticate({
      method: 'GET',
      url: '/',
      headers: { authorization: `Bearer ${text}`, ...head },
    });
    if (outcome.kind === 'authenticated') return 'authenticated';
    const { status: code, reason, fault, retryAfterSeconds } = outcome.error;
    return [code, reason, fault, retryAfterSeconds].filter((part) => part !== undefined).join(' ');
  };
}

const OUTAGE = '503 status-list host 5';

describe(`${covers('auth.bearer.status-list')}, over HTTP`, () => {
  test.each([
    [0, 'authenticated'],
    [1, '401 inactive caller'],
    [2, '401 suspended caller'],
    [3, '401 inactive caller'],
    [4, OUTAGE],
    [2 ** 40, OUTAGE],
  ])('a token with the index %i is answered with %s', async (index, expected) => {
    serving();
    const ask = hostWith();
    const text = await token(status(index));
    expect(await ask(text)).toBe(expected);
    // Remembered, and judged by every rule again.
    expect(await ask(text)).toBe(expected);
    expect(asked).toEqual(['/lists/1']);
  });

  test('every value but 0 is refused, in lists of each size', async () => {
    for (const bits of [1, 2, 4, 8]) {
      const most = 2 ** bits - 1;
      serving(() => ({ bits, statuses: [0, most] }));
      const ask = hostWith();
      expect(await ask(await token(status(0)))).toBe('authenticated');
      expect(await ask(await token(status(1)))).toMatch(/^401 /);
    }
  });

  test('a revoked token is refused after at most 300 s, also when its signature is remembered', async () => {
    let revoked = 0;
    serving(() => ({ statuses: [revoked] }));
    for (const rememberedTokens of [0, 100]) {
      revoked = 0;
      const ask = hostWith({ rememberedTokens });
      const text = await token(status(0));
      const at = time;
      expect(await ask(text)).toBe('authenticated');
      revoked = 1;
      time = at + 100_000;
      expect(await ask(text)).toBe('authenticated');
      time = at + 300_000;
      expect(await ask(text)).toBe('401 inactive caller');
    }
  });

  test.each([
    ['ttl', { ttl: 60 }, 60],
    ['exp', { exp: START / 1000 + 45 }, 45],
    ['maxAgeSeconds', { ttl: 9999, exp: START / 1000 + 9999 }, 30],
  ])('a list is used no longer than its %s', async (_, claims, until) => {
    serving(() => ({ claims, statuses: [asked.length > 1 ? 1 : 0] }));
    const ask = hostWith({ lists: { maxAgeSeconds: until === 30 ? 30 : 300 } });
    const text = await token(status(0));
    expect(await ask(text)).toBe('authenticated');
    time = START + until * 790;
    expect([await ask(text), asked.length]).toEqual(['authenticated', 1]);
    time = START + until * 1000;
    expect(await ask(text)).toBe(until === 45 ? OUTAGE : '401 inactive caller');
  });

  test('a list in use is fetched again before its time is over, and delays no request', async () => {
    serving();
    const ask = hostWith();
    const text = await token(status(0));
    expect(await ask(text)).toBe('authenticated');
    time = START + 290_000;
    expect(await ask(text)).toBe('authenticated');
    await expect.poll(() => asked.length, { timeout: 60_000 }).toBe(2);
    await expect
      .poll(
        async () => {
          time = START + 301_000;
          return ask(text);
        },
        { timeout: 60_000 },
      )
      .toBe('authenticated');
    expect(asked.length).toBe(2);
  });

  test('a list that became longer is fetched again for a new index, at most every 5 s', async () => {
    let statuses = [0];
    serving(() => ({ statuses, bits: 8 }));
    const ask = hostWith();
    expect(await ask(await token(status(0)))).toBe('authenticated');
    statuses = [0, 0];
    const added = await token(status(1));
    expect([await ask(added), asked.length]).toEqual([OUTAGE, 1]);
    time += 5000;
    expect([await ask(added), asked.length]).toEqual(['authenticated', 2]);
  });

  test('callers at the same time share one fetch', async () => {
    serving();
    const ask = hostWith();
    const texts = await Promise.all(Array.from({ length: 40 }, (_, n) => token({ ...status(n % 2), jti: `${n}` })));
    const answers = await Promise.all(texts.map((text) => ask(text)));
    expect(answers.filter((answer) => answer === 'authenticated').length).toBe(20);
    expect(asked).toEqual(['/lists/1']);
  });

  test('a bound token needs its proof as well as its status, and a refusal leaves the proof unused', async () => {
    let revoked = 1;
    serving(() => ({ statuses: [revoked] }));
    const ask = hostWith({ lists: { maxAgeSeconds: 1 } });
    const text = await token({ ...status(0), cnf: { jkt: client.thumbprint } });
    const proof = await client.proof({ htm: 'GET', htu: `${ORIGIN}/`, token: text, iat: seconds() });
    const auth = { authorization: `DPoP ${text}`, dpop: proof };
    expect(await ask(text)).toMatch(/^401 sender/);
    expect(asked).toEqual([]);
    expect(await ask(text, auth)).toBe('401 inactive caller');
    revoked = 0;
    time += 2000;
    expect(await ask(text, auth)).toBe('authenticated');
    expect(await ask(text, auth)).toMatch(/^401 proof-used/);
  });
});

describe(`${covers('auth.bearer.status-list-outage')}: without a usable list`, () => {
  const big = deflateSync(Buffer.alloc(100 * 1024 * 1024)).toString('base64url');
  const lst = (text: unknown, bits: unknown = 1) => ({ claims: { status_list: { bits, lst: text } } });
  const answers: readonly [string, () => ListParts | RequestListener][] = [
    ['the issuer answers 500', () => (_, response) => response.writeHead(500).end()],
    ['the issuer answers 404', () => (_, response) => response.writeHead(404).end()],
    ['the issuer redirects', () => (_, response) => response.writeHead(302, { location: `${root}2` }).end()],
    ['the connection breaks', () => (request) => request.socket.destroy()],
    ['the answer is no JWT', () => (_, response) => response.end('{"status_list":{"bits":1,"lst":"eNrbuRgAAhcBXQ"}}')],
    ['the answer is too long', () => (_, response) => response.end('e'.repeat(4 * 1024 * 1024))],
    ['another key signed it', () => ({ by: stranger })],
    ['it is of another type', () => ({ header: { typ: 'JWT' } })],
    ['its type is absent', () => ({ header: { typ: undefined } })],
    ['it has a key of its own', () => ({ header: { jwk: stranger.publicJwk } })],
    ['it is another list', () => ({ claims: { sub: `${root}2` } })],
    ['it names no list', () => ({ claims: { sub: undefined } })],
    ['it is of another issuer', () => ({ claims: { iss: 'https://other.example.com' } })],
    ['it has no issue time', () => ({ claims: { iat: undefined } })],
    ['it is of the future', () => ({ claims: { iat: seconds() + 61 } })],
    ['it has expired', () => ({ claims: { exp: seconds() } })],
    ['its expiry is a text', () => ({ claims: { exp: '9999999999' } })],
    ['its ttl is 0', () => ({ claims: { ttl: 0 } })],
    ['its ttl is negative', () => ({ claims: { ttl: -5 } })],
    ['it has three bits', () => lst('eNrbuRgAAhcBXQ', 3)],
    ['its bits are a text', () => lst('eNrbuRgAAhcBXQ', '1')],
    ['it has no list', () => ({ claims: { status_list: undefined } })],
    ['its list is no text', () => lst(7)],
    ['its list is not base64url', () => lst('eNrbuRgAAhcBXQ==')],
    ['its list is empty', () => lst('')],
    ['its list is cut off', () => lst('eNrbuRgAAh')],
    [
      'its list has bytes after its end',
      () => lst(Buffer.concat([deflateSync('ab'), Buffer.from('x')]).toString('base64url')),
    ],
    ['its list is raw DEFLATE', () => lst(deflateRawSync(Buffer.alloc(9)).toString('base64url'))],
    ['its list inflates to 100 MB', () => lst(big)],
    ['its list inflates to no byte', () => lst(deflateSync('').toString('base64url'))],
  ];

  test.each(answers)('because %s, a token gets 503, and one without a status passes', async (_, answer) => {
    const given = answer();
    if (typeof given === 'function') serve = given;
    else serving(() => given);
    const ask = hostWith({ limit: 3 });
    const text = await token(status(0));
    // More often than the client may be refused.
    for (let n = 0; n < 6; n++) expect(await ask(text)).toBe(OUTAGE);
    expect(await ask(await token({}))).toBe('authenticated');
    expect(asked.length).toBe(1);
    // It recovers.
    serving();
    time += 5000;
    expect(await ask(text)).toBe('authenticated');
  });

  test('a list that is late, and one whose body never ends, is an outage', async () => {
    for (const late of [() => {}, (_: unknown, response: { write(text: string): void }) => response.write('e')]) {
      serve = late as RequestListener;
      expect(await hostWith({ lists: { timeoutMs: 50 } })(await token(status(0)))).toBe(OUTAGE);
    }
  });

  test('a list that is older than the one before it is not used', async () => {
    let issued = START / 1000 - 10;
    serving(() => ({ claims: { iat: issued } }));
    const ask = hostWith();
    expect(await ask(await token(status(0)))).toBe('authenticated');
    time += 301_000;
    issued -= 1;
    expect(await ask(await token(status(0)))).toBe(OUTAGE);
  });

  test('keys of the issuer that are unavailable, or were replaced, make a list unusable', async () => {
    serving();
    let keys: KeySource = localKeys(keySetOf(idp));
    const source: KeySource = { find: (wanted) => keys.find(wanted) };
    const ask = hostWith({ issuer: { keys: source } });
    const text = await token(status(0));
    expect(await ask(text)).toBe('authenticated');
    keys = localKeys(keySetOf(stranger));
    expect(await ask(text)).toMatch(/^401 signature/);
  });

  test('after the clock was set back, a list counts as old', async () => {
    serving(() => ({ claims: { iat: START / 1000 - 1000 } }));
    const ask = hostWith();
    const text = await token({ ...status(0), iat: START / 1000 - 1000, exp: START / 1000 + 1000 });
    expect(await ask(text)).toBe('authenticated');
    time -= 500_000;
    expect(await ask(text)).toBe('authenticated');
    expect(asked.length).toBe(2);
  });

  test('memory is bounded: with room for two lists, the least recently used one is fetched again', async () => {
    serve = async ({ url = '' }, response) =>
      response.end(await listToken({ claims: { sub: `${root}${url.replace('/lists/', '')}` } }));
    const ask = hostWith({ lists: { maxLists: 2 } });
    const texts = await Promise.all(['1', '2', '3'].map((name) => token(status(0, `${root}${name}`))));
    for (const index of [0, 1, 0, 2, 0, 1]) expect(await ask(texts[index] ?? '')).toBe('authenticated');
    expect(asked).toEqual(['/lists/1', '/lists/2', '/lists/3', '/lists/2']);
  });

  test('fetches under way are bounded', async () => {
    serve = () => {};
    const ask = hostWith({ lists: { maxLists: 2, timeoutMs: 1000 } });
    const texts = await Promise.all(Array.from({ length: 20 }, (_, n) => token(status(0, `${root}${n}`))));
    expect(new Set(await Promise.all(texts.map((text) => ask(text))))).toEqual(new Set([OUTAGE]));
    expect(asked.length).toBe(2);
  });
});

describe(`${covers('auth.bearer.status-list')}: the claim of the token`, () => {
  const malformed: readonly [string, () => unknown][] = [
    ['a text', () => 'valid'],
    ['null', () => null],
    ['empty', () => ({})],
    ['of another mechanism', () => ({ identifier_list: { id: '1', uri: `${root}1` } })],
    ['a list without an index', () => ({ status_list: { uri: `${root}1` } })],
    ['a list without a URI', () => ({ status_list: { idx: 0 } })],
    ['a negative index', () => status(-1).status],
    ['a fractional index', () => status(0.5).status],
    ['an index in a text', () => status('0').status],
    ['an index above the safe integers', () => status(2 ** 53).status],
    ['another host', () => status(0, 'https://evil.example.com/lists/1').status],
    ['another scheme', () => status(0, root.replace('http:', 'file:')).status],
    ['a folder above', () => status(0, `${root}../other`).status],
    ['an encoded folder above', () => status(0, `${root}%2e%2e/other`).status],
    ['a backslash', () => status(0, `${root}..\\other`).status],
    ['a query', () => status(0, `${root}1?time=1`).status],
    ['a fragment', () => status(0, `${root}1#x`).status],
    ['a user name', () => status(0, root.replace('//', '//u@')).status],
    ['white space', () => status(0, `${root}1 `).status],
    ['only the beginning of an allowed URI', () => status(0, root.slice(0, -1)).status],
  ];

  test.each(malformed)('that is %s is refused, and nothing is fetched', async (_, claim) => {
    serving();
    expect(await hostWith()(await token({ status: claim() }))).toBe('401 claims caller');
    expect(asked).toEqual([]);
  });

  test('that is any JSON value is refused, unless it names an allowed list', async () => {
    serving();
    const ask = hostWith();
    const property = fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (idx, uri) => {
      for (const claim of [idx, { status_list: idx }, status(idx, uri).status]) {
        const answer = await ask(await token({ status: claim }));
        // A token with a member called `__proto__` is no token.
        expect(answer).toMatch(/^401 (?:claims|unknown) caller$/);
      }
    });
    await fc.assert(property, { numRuns: 50 });
    expect(asked).toEqual([]);
  });

  test('is ignored where the issuer has no lists, and may be required', async () => {
    const without = hostWith({ withoutLists: true });
    expect(await without(await token({ status: 'x' }))).toBe('authenticated');
    const ask = hostWith({ lists: { required: true } });
    expect(await ask(await token({}))).toBe('401 claims caller');
    serving();
    expect(await ask(await token(status(0)))).toBe('authenticated');
    expect(await ask(await token(status(1)))).toBe('401 inactive caller');
  });

  test('matters after the other rules: an expired token of a revoked index has expired', async () => {
    serving();
    expect(await hostWith()(await token({ ...status(1), iat: 1, exp: 2 }))).toBe('401 expired caller');
    expect(await hostWith()(await token({ ...status(1), aud: 'other' }))).toBe('401 audience caller');
    expect(asked).toEqual([]);
  });
});

describe('options of statusLists', () => {
  test.each<[string, object]>([
    ['uris must be a list', { uris: [], fetch }],
    ['uris must be a list', { fetch }],
    ['uris[0] must be an https URL', { uris: ['http://idp.example.com/'], fetch }],
    ['uris[1] must be', { uris: ['https://idp.example.com/', 'https://idp.example.com/a/../b'], fetch }],
    ['uris[0] must be', { uris: ['https://idp.example.com'], fetch }],
    ['fetch must be a function', { uris: ['https://idp.example.com/'] }],
    ['required must be', { uris: ['https://idp.example.com/'], fetch, required: 'yes' }],
    ['maxAgeSeconds must be 1 to 3600', { uris: ['https://idp.example.com/'], fetch, maxAgeSeconds: 0 }],
    ['maxAgeSeconds must be 1 to 3600', { uris: ['https://idp.example.com/'], fetch, maxAgeSeconds: 3601 }],
    ['maxListBytes must be', { uris: ['https://idp.example.com/'], fetch, maxListBytes: 3e6 }],
    ['maxLists must be', { uris: ['https://idp.example.com/'], fetch, maxLists: 0 }],
    ['timeoutMs must be', { uris: ['https://idp.example.com/'], fetch, timeoutMs: Number.NaN }],
    ['unknown option uri. Did you mean uris?', { uri: 'https://idp.example.com/', fetch }],
  ])('%s', (problem, options) => {
    expect(() => statusLists(options as never)).toThrow(`statusLists: ${problem}`);
  });

  test('an issuer takes no other object', () => {
    const issuers = [{ issuer: ISSUER, audience: 'svc', profile: 'user' as const, statusLists: {} as never }];
    expect(() => bearerLane({ issuers, fetch })).toThrow(/issuers\[0\]\.statusLists must be made by/);
  });
});
