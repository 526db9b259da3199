import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { authenticator, type Lane } from '@svc/auth';
import { type KeySource, localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { clientSecretBasic, type IntrospectionLaneOptions, introspectionLane } from '@svc/auth/introspection';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { type StatusLists, type StatusListsOptions, statusLists } from '@svc/auth/status-list';
import { cloudSubject, jwtSvid, oauthClient, type WorkloadScheme, workloadLane } from '@svc/auth/workload';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { proofMaker } from './proofs.ts';
import { keySetOf, type Signer, signer } from './tokens.ts';

const START = Date.UTC(2026, 5, 1);
const ORIGIN = 'https://svc.example.com';
const [issuerKey, stranger] = await Promise.all([signer('ES256', 'issuer'), signer('ES256', 'issuer')]);
const client = await proofMaker();
const keys = localKeys(keySetOf(issuerKey));

/** A real server of lists, which counts its requests. */
let server: Server;
let root: string;
let asked: string[];
let time: number;
let statuses: number[];
let isDown: boolean;
let by: Signer;
let listClaims: object;

const now = () => time;
const seconds = () => Math.floor(time / 1000);

beforeAll(async () => {
  server = createServer(async (request, response) => {
    asked.push(request.url ?? '');
    // A connection that is kept may be reset between two tests, which is an outage.
    response.setHeader('connection', 'close');
    if (isDown) return response.writeHead(500).end();
    const list = { bits: 8, lst: deflateSync(Buffer.from(statuses)).toString('base64url') };
    const claims = { sub: `${root}1`, iat: seconds(), status_list: list, ...listClaims };
    return response.end(await by.sign(claims, { typ: 'statuslist+jwt' }));
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
  statuses = [0, 1, 2, 3];
  isDown = false;
  by = issuerKey;
  listClaims = {};
});

interface Way {
  /** The issuer as a list names it. */
  readonly issuer: string;
  readonly lane: (lists: StatusLists | undefined, keySource: KeySource) => Lane;
  /** Makes a credential, whose claims or whose answer has the given members. */
  readonly token: (claims: object) => Promise<string>;
  /** The code of a credential that is withdrawn. */
  readonly code: string;
}

const dpop = () => dpopVerifier({ origin: ORIGIN, replays: memoryReplayStore({ now, monotonic: now }), now });
const grants = { tenant: 'acme', workspaces: ['acme-prod'], scopes: ['runs:read'], mode: 'live' } as const;
const workloads = (scheme: WorkloadScheme) =>
  workloadLane({
    ...{ schemes: [scheme], audience: 'svc', dpop: dpop(), now },
    resolve: () => ({ principal: 'p_1', ...grants }),
  });
const times = () => ({ aud: 'svc', iat: START / 1000, exp: START / 1000 + 3600 });
const listed = (lists: StatusLists | undefined) => (lists === undefined ? {} : { statusLists: lists });

/** The answers of an issuer, by the token that it is asked about. */
const answers = new Map<string, object>();
function opaque(changes: Partial<IntrospectionLaneOptions>) {
  return introspectionLane({
    ...{ issuer: 'https://idp.example.com', endpoint: 'https://idp.example.com/introspect', audience: 'svc', now },
    ...{ client: clientSecretBasic({ clientId: 'svc', clientSecret: 's' }), maxAgeSeconds: 300, dpop: dpop() },
    fetch: async (_url, { body }) =>
      new Response(JSON.stringify(answers.get(new URLSearchParams(body).get('token') ?? '') ?? { active: false })),
    ...changes,
  });
}

const WAYS: Readonly<Record<string, Way>> = {
  'a JWT-SVID': {
    issuer: 'spiffe://acme.example',
    lane: (lists, keySource) =>
      workloads(jwtSvid({ trustDomains: [{ name: 'acme.example', keys: keySource, ...listed(lists) }], now })),
    token: (claims) => issuerKey.sign({ sub: 'spiffe://acme.example/agent', ...times(), ...claims }, { typ: 'JWT' }),
    code: 'identity_unverified',
  },
  'a token of a cloud': {
    issuer: 'https://cloud.example.com',
    lane: (lists, keySource) =>
      workloads(
        cloudSubject({ issuers: [{ issuer: 'https://cloud.example.com', keys: keySource, ...listed(lists) }], now }),
      ),
    token: (claims) =>
      issuerKey.sign({ iss: 'https://cloud.example.com', sub: 'repo:acme', ...times(), ...claims }, { typ: 'JWT' }),
    code: 'identity_unverified',
  },
  'a token of an OAuth client': {
    issuer: 'https://auth.example.com',
    lane: (lists, keySource) =>
      workloads(
        oauthClient({ issuers: [{ issuer: 'https://auth.example.com', keys: keySource, ...listed(lists) }], now }),
      ),
    token: (claims) =>
      issuerKey.sign(
        { iss: 'https://auth.example.com', sub: 'c_1', client_id: 'c_1', ...times(), ...claims },
        { typ: 'at+jwt' },
      ),
    code: 'identity_unverified',
  },
  'an introspected token': {
    issuer: 'https://idp.example.com',
    lane: (lists, keySource) => opaque({ keys: keySource, ...listed(lists) }),
    async token(claims) {
      const token = `opaque-${answers.size}`;
      const mapped = { sub: 'u_1', svc_tenant: 'acme', svc_workspaces: ['*'], scope: 'runs:read' };
      answers.set(token, { active: true, ...times(), ...mapped, ...claims });
      return token;
    },
    code: 'unauthenticated',
  },
};

const status = (idx: unknown, uri: unknown = `${root}1`) => ({ status: { status_list: { idx, uri } } });

interface HostParts {
  readonly lists?: Partial<StatusListsOptions>;
  readonly withoutLists?: boolean;
  readonly keys?: KeySource;
}

/** A host whose client may be refused three times an hour. */
function hostOf(way: Way, parts: HostParts = {}) {
  const lists = statusLists({ uris: [root], fetch, timeoutMs: 60_000, ...parts.lists });
  const lane = way.lane(parts.withoutLists === true ? undefined : lists, parts.keys ?? keys);
  const limiter = memoryRateLimiter({ limit: 3, windowSeconds: 3600, now });
  const host = authenticator({ lanes: [lane], refusals: { limiter, clientOf: () => 'client' } });
  return async (text: string, head: Readonly<Record<string, string>> = {}) => {
    const headers = { authorization: `Bearer ${text}`, ...head };
    const outcome = await host.authenticate({ method: 'GET', url: '/', headers });
    if (outcome.kind === 'authenticated') return 'authenticated';
    const { status: number, code, reason, fault } = outcome.error;
    return `${number} ${code} ${reason} ${fault}`;
  };
}

const OUTAGE = '503 service_unavailable status-list host';

describe.each(Object.entries(WAYS))('the status of %s', (_name, way) => {
  const requirements = [
    covers('auth.workload.status-list', 'auth.bearer.status-list'),
    covers('auth.workload.status-list-outage', 'auth.bearer.status-list-outage'),
  ];

  test.each([
    [0, () => 'authenticated'],
    [1, () => `401 ${way.code} inactive caller`],
    [2, () => `401 ${way.code} suspended caller`],
    [3, () => `401 ${way.code} inactive caller`],
    [4, () => OUTAGE],
  ])(`${requirements[0]}: the index %i of the list decides`, async (index, expected) => {
    const ask = hostOf(way);
    const text = await way.token(status(index));
    expect(await ask(text)).toBe(expected());
    expect(await ask(text)).toBe(expected());
    expect(asked).toEqual(['/lists/1']);
  });

  test('a withdrawn token is accepted for at most 300 s, and refused at each request after that', async () => {
    const ask = hostOf(way);
    const text = await way.token(status(0));
    expect(await ask(text)).toBe('authenticated');
    statuses = [1];
    time = START + 200_000;
    expect(await ask(text)).toBe('authenticated');
    time = START + 300_000;
    expect(await ask(text)).toBe(`401 ${way.code} inactive caller`);
  });

  test.each<[string, () => void]>([
    ['the issuer fails', () => (isDown = true)],
    ['another key signed the list', () => (by = stranger)],
    ['it is another list', () => (listClaims = { sub: `${root}2` })],
    ['it is of another issuer', () => (listClaims = { iss: 'https://other.example.com' })],
    ['it has expired', () => (listClaims = { exp: seconds() })],
    ['it has no list', () => (listClaims = { status_list: undefined })],
  ])(`${requirements[1]}: because %s, the token gets 503, and one without a status passes`, async (_, breakList) => {
    breakList();
    const ask = hostOf(way);
    const text = await way.token(status(0));
    // More often than the client may be refused.
    for (let n = 0; n < 5; n++) expect(await ask(text)).toBe(OUTAGE);
    expect(await ask(await way.token({}))).toBe('authenticated');
    [isDown, by, listClaims] = [false, issuerKey, { iss: way.issuer }];
    time += 5000;
    expect(await ask(text)).toBe('authenticated');
  });

  test('a claim that names no list that may be fetched is refused, and nothing is fetched', async () => {
    const claims = ['valid', null, {}, status(-1).status, status('0').status, status(0, `${root}../other`).status];
    for (const claim of [...claims, status(0, 'https://evil.example.com/1').status])
      expect(await hostOf(way)(await way.token({ status: claim }))).toBe(`401 ${way.code} claims caller`);
    expect(asked).toEqual([]);
  });

  test('a claim that is any JSON value accepts no token', async () => {
    const property = fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (idx, uri) => {
      const ask = hostOf(way);
      for (const claim of [idx, status(idx, uri).status])
        expect(await ask(await way.token({ status: claim }))).toMatch(/^(?:401|503) /);
    });
    await fc.assert(property, { numRuns: 25 });
    expect(asked).toEqual([]);
  });

  test('is ignored without lists, and may be required', async () => {
    expect(await hostOf(way, { withoutLists: true })(await way.token({ status: 'x' }))).toBe('authenticated');
    const ask = hostOf(way, { lists: { required: true } });
    expect(await ask(await way.token({}))).toBe(`401 ${way.code} claims caller`);
    expect(await ask(await way.token(status(0)))).toBe('authenticated');
  });

  test('is looked at after audience, times and sender: nothing is fetched for a thief', async () => {
    const ask = hostOf(way);
    expect(await ask(await way.token({ ...status(1), aud: 'other' }))).toBe('401 audience_mismatch audience caller');
    expect(await ask(await way.token({ ...status(1), cnf: { jkt: client.thumbprint } }))).toMatch(/^401 .* sender /);
    expect(asked).toEqual([]);
  });

  test('decides together with a proof, which a refusal leaves unused', async () => {
    const ask = hostOf(way, { lists: { maxAgeSeconds: 1 } });
    statuses = [1];
    const text = await way.token({ ...status(0), cnf: { jkt: client.thumbprint } });
    const proof = await client.proof({ htm: 'GET', htu: `${ORIGIN}/`, token: text, iat: seconds() });
    const head = { authorization: `DPoP ${text}`, dpop: proof };
    expect(await ask(text, head)).toBe(`401 ${way.code} inactive caller`);
    statuses = [0];
    time += 2000;
    expect(await ask(text, head)).toBe('authenticated');
    expect(await ask(text, head)).toMatch(/ proof-used /);
  });
});

test('a remembered answer of an introspection is judged by the list at each request, for an admitted client', async () => {
  const way = WAYS['an introspected token'];
  if (way === undefined) throw new Error('The ways have no introspected token.');
  const ask = hostOf(way, { lists: { maxAgeSeconds: 1 } });
  const text = await way.token(status(1));
  expect(await ask(text)).toBe('401 unauthenticated inactive caller');
  // The client uses its three refusals up. A token whose list is not in memory then costs no fetch.
  for (let n = 0; n < 2; n++) await ask(`guess-${n}`);
  time += 2000;
  expect(await ask(text)).toMatch(/^429 /);
  expect(asked).toEqual(['/lists/1']);
});

test('a list must be signed with a key of its own trust domain', async () => {
  const other = await signer('ES256', 'other');
  const lists = statusLists({ uris: [root], fetch, timeoutMs: 60_000 });
  const trustDomains = [
    { name: 'acme.example', keys, statusLists: lists },
    { name: 'other.example', keys: localKeys(keySetOf(other)), statusLists: lists },
  ];
  const host = authenticator({ lanes: [workloads(jwtSvid({ trustDomains, now }))] });
  const token = await other.sign({ sub: 'spiffe://other.example/x', ...times(), ...status(0) }, { typ: 'JWT' });
  expect(await host.authenticate({ headers: { authorization: `Bearer ${token}` } })).toMatchObject({
    error: { status: 503, reason: 'status-list' },
  });
});

describe('options', () => {
  const lists = () => statusLists({ uris: [root], fetch });

  test.each<[string, () => unknown, RegExp]>([
    [
      'a clock is a function',
      () => jwtSvid({ trustDomains: [{ name: 'acme.example', keys, statusLists: lists() }], now: 7 as never }),
      /jwtSvid: now must be a function/,
    ],
    [
      'a trust domain takes no other object',
      () => jwtSvid({ trustDomains: [{ name: 'acme.example', keys, statusLists: {} as never }], now }),
      /trustDomains\[\]\.statusLists must be made by statusLists/,
    ],
    [
      'an issuer of workloads takes no other object',
      () => cloudSubject({ issuers: [{ issuer: 'https://x.example', keys, statusLists: 1 as never }], now }),
      /issuers\[\]\.statusLists must be made by statusLists/,
    ],
    ['introspection takes no other object', () => opaque({ statusLists: {} as never, keys }), /statusLists must be/],
    ['introspection needs the keys of the issuer', () => opaque({ statusLists: lists() }), /keys must be the keys/],
  ])('%s', (_name, make, message) => {
    expect(make).toThrow(message);
  });

  test('the keys of signed answers are those of the lists by default', () => {
    expect(opaque({ statusLists: lists(), answerKeys: keys }).name).toBe('introspection');
  });
});
