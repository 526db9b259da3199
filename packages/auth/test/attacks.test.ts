import { createHmac, createPublicKey } from 'node:crypto';
import { authenticator, type RequestHead, refusal } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { type DpopOptions, dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { covers } from '@svc/tools/covers';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ProofMaker, proofMaker } from './proofs.ts';
import { base64url, keySetOf, type Signer, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const SECONDS = NOW / 1000;
const ISSUER = 'https://idp.example.com';
const ORIGIN = 'https://svc.example.com';
const KEY = 'operator-key-of-this-test-0123456789';

let es: Signer;
let rs: Signer;
let ed: Signer;
let stranger: Signer;
let client: ProofMaker;

beforeAll(async () => {
  es = await signer('ES256');
  rs = await signer('RS256');
  ed = await signer('EdDSA');
  stranger = await signer('ES256', 'ES256-1');
  client = await proofMaker();
});

const claims = {
  iss: ISSUER,
  aud: 'svc',
  sub: 'u_1',
  iat: SECONDS - 10,
  exp: SECONDS + 600,
  scope: 'runs:read',
  svc_tenant: 'acme',
  svc_workspaces: ['acme-prod'],
};
const header = { alg: 'ES256', kid: 'ES256-1' };

function auth() {
  const now = () => NOW;
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1' } as const;
  return authenticator({
    lanes: [
      bearerLane({
        issuers: [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys: localKeys(keySetOf(es, rs, ed)) }],
        dpop: dpopVerifier({ origin: ORIGIN, replays: memoryReplayStore({ now }), now }),
        now,
      }),
      apiKeyLane({ keys: memoryKeyStore([{ ...record, scopes: [], mode: 'live' }]), now }),
    ],
    resourceMetadata: `${ORIGIN}/.well-known/oauth-protected-resource`,
  });
}

const bearing = (token: string): RequestHead => ({ headers: { authorization: `Bearer ${token}` } });

type Token = () => string | Promise<string>;

/** Valid tokens. If one of them were refused, the refusals below would prove nothing. */
const TAKEN: readonly [string, Token][] = [
  ['ES256', () => es.sign(claims)],
  ['RS256', () => rs.sign(claims)],
  ['EdDSA', () => ed.sign(claims)],
  ['typ JWT', () => es.sign(claims, { typ: 'JWT' })],
  ['typ at+jwt', () => es.sign(claims, { typ: 'at+jwt' })],
  ['typ application/at+jwt, in any case', () => es.sign(claims, { typ: 'Application/AT+JWT' })],
  ['an audience among others', () => es.sign({ ...claims, aud: ['other', 'svc'] }, { typ: 'at+jwt' })],
  [
    'exactly at the edge of its expiry and the skew',
    () => es.sign({ ...claims, exp: SECONDS - 59, iat: SECONDS - 100 }),
  ],
  ['issued as far in the future as the skew allows', () => es.sign({ ...claims, iat: SECONDS + 60 })],
  ['nbf as far in the future as the skew allows', () => es.sign({ ...claims, nbf: SECONDS + 60 })],
  ['a lifetime of a day', () => es.sign({ ...claims, iat: SECONDS, exp: SECONDS + 86_400 })],
  ['claims that no rule reads', () => es.sign({ ...claims, acr: '1', nested: { iss: 'x' }, admin: true })],
];

test.each(TAKEN)('accepts a token: %s', async (_name, token) => {
  expect(await auth().authenticate(bearing(await token()))).toMatchObject({ kind: 'authenticated' });
});

const without = (name: keyof typeof claims) => ({ ...claims, [name]: undefined });
const changed = (token: string, part: 0 | 1 | 2, change: (text: string) => string) =>
  token
    .split('.')
    .map((text, at) => (at === part ? change(text) : text))
    .join('.');
const hmacToken = (alg: string, key: string | Buffer) => {
  const input = `${base64url(JSON.stringify({ alg, kid: 'RS256-1' }))}.${base64url(JSON.stringify(claims))}`;
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
};
const spki = (type: 'spki' | 'pkcs1') =>
  createPublicKey({ key: rs.publicJwk as never, format: 'jwk' }).export({ type, format: 'pem' });
const raw = (text: string) => es.signBytes(JSON.stringify(header), text);
const rawHeader = (text: string) => es.signBytes(text, JSON.stringify(claims));
const members = (extra: string) => `{${extra},${JSON.stringify(claims).slice(1)}`;

const UNAUTHENTICATED = 'unauthenticated';

/** Tokens that must be refused: the fault of each, its construction, and the code. */
const REFUSED: readonly [string, Token, string?][] = [
  // Signatures and algorithms: RFC 8725, sections 2.1, 3.1 and 3.2.
  ['alg none without a signature', () => `${base64url('{"alg":"none"}')}.${base64url(JSON.stringify(claims))}.`],
  ['alg none with one', async () => changed(await es.sign(claims), 0, () => base64url('{"alg":"none"}'))],
  ['alg NONE', () => `${base64url('{"alg":"NONE"}')}.${base64url(JSON.stringify(claims))}.`],
  ['alg nOnE with a signature', async () => changed(await es.sign(claims), 0, () => base64url('{"alg":"nOnE"}'))],
  ['HS256 with the public key as PEM', () => hmacToken('HS256', spki('spki'))],
  ['HS256 with the public key as PKCS #1', () => hmacToken('HS256', spki('pkcs1'))],
  ['HS256 with the public key as JSON', () => hmacToken('HS256', JSON.stringify(rs.publicJwk))],
  ['HS256 with the modulus', () => hmacToken('HS256', Buffer.from(String(rs.publicJwk.n), 'base64url'))],
  ['HS256 with no secret', () => hmacToken('HS256', '')],
  ['HS384', () => hmacToken('HS384', 'secret')],
  ['an algorithm that is not allowed, with its own key', async () => (await signer('ES384', 'ES384-1')).sign(claims)],
  [
    'RS512 with a key for RS256',
    async () => changed(await rs.sign(claims), 0, () => base64url('{"alg":"RS512","kid":"RS256-1"}')),
  ],
  [
    'PS256 with a key for RS256',
    async () => changed(await rs.sign(claims), 0, () => base64url('{"alg":"PS256","kid":"RS256-1"}')),
  ],
  ['RS256 with the key id of the other algorithm', () => rs.sign(claims, { kid: 'ES256-1' })],
  ['alg missing', () => rawHeader('{"kid":"ES256-1"}')],
  ['alg empty', () => rawHeader('{"alg":"","kid":"ES256-1"}')],
  ['alg a list', () => rawHeader('{"alg":["ES256"],"kid":"ES256-1"}')],
  ['alg in lower case', () => rawHeader('{"alg":"es256","kid":"ES256-1"}')],
  ['alg with a null byte', () => rawHeader('{"alg":"ES256\\u0000","kid":"ES256-1"}')],
  ['the key of a stranger under the same id', () => stranger.sign(claims)],
  ['an empty signature', async () => changed(await es.sign(claims), 2, () => '')],
  ['a signature of zeros', async () => changed(await es.sign(claims), 2, () => base64url(new Uint8Array(64)))],
  [
    'a signature one byte short',
    async () => changed(await es.sign(claims), 2, (text) => base64url(Buffer.from(text, 'base64url').subarray(1))),
  ],
  [
    'a signature one byte long',
    async () =>
      changed(await es.sign(claims), 2, (text) =>
        base64url(Buffer.concat([Buffer.from(text, 'base64url'), Buffer.alloc(1)])),
      ),
  ],
  [
    'a signature in DER',
    async () => changed(await es.sign(claims), 2, () => base64url(Buffer.from('3006020101020101', 'hex'))),
  ],
  [
    'a flipped bit in the signature',
    async () =>
      changed(await es.sign(claims), 2, (text) => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`)),
  ],
  [
    'the signature of another token',
    async () => changed(await es.sign(claims), 2, () => '') + (await es.sign({ ...claims, sub: 'u_2' })).split('.')[2],
  ],
  [
    'changed claims',
    async () => changed(await es.sign(claims), 1, () => base64url(JSON.stringify({ ...claims, svc_tenant: 'globex' }))),
  ],
  [
    'a changed header',
    async () => changed(await es.sign(claims), 0, () => base64url(JSON.stringify({ ...header, x: 1 }))),
  ],

  // Keys that the token contains or refers to.
  ['an embedded jwk', () => stranger.sign(claims, { jwk: stranger.publicJwk, kid: 'mine' })],
  ['an embedded jwk beside the right key id', () => es.sign(claims, { jwk: es.publicJwk })],
  ['jku', () => es.sign(claims, { jku: 'https://evil.example/jwks.json' })],
  ['jku at the issuer', () => es.sign(claims, { jku: `${ISSUER}/jwks` })],
  ['x5u', () => es.sign(claims, { x5u: 'https://evil.example/cert.pem' })],
  ['x5c', () => es.sign(claims, { x5c: ['MIIB'] })],
  ['an unknown key id', () => es.sign(claims, { kid: 'other' })],
  [
    'no key id, and the key of a stranger',
    async () => {
      const again = await signer('ES256', 'ES256-2');
      return again.sign(claims, { kid: undefined });
    },
  ],
  ['a key id that is a path', () => es.sign(claims, { kid: '../../dev/null' })],
  ['a key id that is SQL', () => es.sign(claims, { kid: "x' UNION SELECT 'key" })],
  ['a key id that is an object', () => rawHeader('{"alg":"ES256","kid":{}}')],
  ['a key id that is a number', () => rawHeader('{"alg":"ES256","kid":1}')],
  ['a key id that is __proto__', () => es.sign(claims, { kid: '__proto__' })],
  ['a key id that is constructor', () => es.sign(claims, { kid: 'constructor' })],
  ['a key id with a line break', () => es.sign(claims, { kid: 'ES256-1\n' })],
  ['an empty key id', () => es.sign(claims, { kid: '' })],
  ['a key id of 300 characters', () => es.sign(claims, { kid: 'k'.repeat(300) })],

  // Extensions and other kinds of tokens: RFC 8725, sections 3.10 and 3.11.
  ['crit with an unknown extension', () => rawHeader('{"alg":"ES256","kid":"ES256-1","crit":["exp"],"exp":1}')],
  ['crit empty', () => rawHeader('{"alg":"ES256","kid":"ES256-1","crit":[]}')],
  ['b64 false', () => rawHeader('{"alg":"ES256","kid":"ES256-1","b64":false}')],
  ['b64 false and critical', () => rawHeader('{"alg":"ES256","kid":"ES256-1","b64":false,"crit":["b64"]}')],
  ['zip', () => es.sign(claims, { zip: 'DEF' })],
  ['cty JWT', () => es.sign(claims, { cty: 'JWT' })],
  ['enc', () => es.sign(claims, { enc: 'A128GCM' })],
  ['typ dpop+jwt', () => es.sign(claims, { typ: 'dpop+jwt' })],
  ['typ logout+jwt', () => es.sign(claims, { typ: 'logout+jwt' })],
  ['typ secevent+jwt', () => es.sign(claims, { typ: 'secevent+jwt' })],
  ['typ JWE', () => es.sign(claims, { typ: 'JWE' })],
  ['typ null', () => rawHeader('{"alg":"ES256","kid":"ES256-1","typ":null}')],
  ['typ a list', () => rawHeader('{"alg":"ES256","kid":"ES256-1","typ":["JWT"]}')],
  [
    'a nested token as payload',
    async () => es.signBytes(JSON.stringify({ ...header, cty: 'JWT' }), await es.sign(claims)),
  ],
  ['five parts, as an encrypted token has', async () => `${await es.sign(claims)}.AAAA.AAAA`],
  ['four parts', async () => `${await es.sign(claims)}.AAAA`],
  ['two parts', async () => (await es.sign(claims)).split('.').slice(0, 2).join('.')],
  ['a fourth part that is empty', async () => `${await es.sign(claims)}.`],

  // Second encodings of one token.
  ['padding at the end', async () => `${await es.sign(claims)}==`],
  ['padding in the payload', async () => changed(await es.sign(claims), 1, (text) => `${text}=`)],
  [
    'a signature whose last bits stand for nothing',
    async () =>
      changed(
        await es.sign(claims),
        2,
        (text) => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1),
      ),
  ],
  ['the alphabet of plain base64', async () => changed(await es.sign(claims), 2, (text) => `+/${text.slice(2)}`)],
  ['an empty header', async () => changed(await es.sign(claims), 0, () => '')],
  ['an empty payload', async () => changed(await es.sign(claims), 1, () => '')],
  ['9000 characters', async () => es.sign({ ...claims, filler: 'x'.repeat(9000) })],
  ['10 000 nested lists', () => raw(`{"a":${'['.repeat(1000)}${']'.repeat(1000)},"iss":"x"}`)],

  // JSON that parsers read differently: RFC 8259, section 4.
  ['two iss, the last one right', () => raw(members('"iss":"https://evil.example"'))],
  ['two aud', () => raw(members('"aud":"svc"'))],
  ['two sub', () => raw(members('"sub":"u_1"'))],
  ['two exp', () => raw(members('"exp":1'))],
  ['two exp, one of them escaped', () => raw(members('"\\u0065xp":1'))],
  ['two tenants', () => raw(members('"svc_tenant":"globex"'))],
  ['a repeated name further inside', () => raw(members('"x":{"a":1,"a":2}'))],
  ['a repeated name in the header', () => rawHeader('{"alg":"none","alg":"ES256","kid":"ES256-1"}')],
  ['claims in __proto__', () => raw(`{"__proto__":${JSON.stringify(claims)}}`)],
  ['__proto__ beside the claims', () => raw(members('"__proto__":{"scope":"admin"}'))],
  ['__proto__ in the header', () => rawHeader('{"alg":"ES256","kid":"ES256-1","__proto__":{"typ":"JWT"}}')],
  ['a payload that is a list', () => raw(`[${JSON.stringify(claims)}]`)],
  ['a payload that is a text', () => raw('"claims"')],
  ['a payload that is null', () => raw('null')],
  ['a payload that is a number', () => raw('1')],
  ['a header that is a list', () => rawHeader('["ES256"]')],
  ['no JSON', () => raw('{iss: 1}')],
  ['a trailing comma', () => raw(`${JSON.stringify(claims).slice(0, -1)},}`)],
  ['something after the object', () => raw(`${JSON.stringify(claims)} {}`)],
  ['a byte order mark', () => raw(`\uFEFF${JSON.stringify(claims)}`)],
  [
    'bytes that are no UTF-8',
    () =>
      es.signBytes(
        JSON.stringify(header),
        Buffer.concat([Buffer.from(members('"x":"')), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
      ),
  ],
  [
    'an overlong encoding',
    () =>
      es.signBytes(
        JSON.stringify(header),
        Buffer.concat([
          Buffer.from('{"x":"'),
          Buffer.from([0xc0, 0xaf]),
          Buffer.from(`",${JSON.stringify(claims).slice(1)}`),
        ]),
      ),
  ],
  ['UTF-16', () => es.signBytes(JSON.stringify(header), Buffer.from(JSON.stringify(claims), 'utf16le'))],

  // Issuers that look alike.
  ['no issuer', () => es.sign(without('iss'))],
  ['another issuer', () => es.sign({ ...claims, iss: 'https://evil.example' })],
  ['the issuer with a slash', () => es.sign({ ...claims, iss: `${ISSUER}/` })],
  ['the issuer in capitals', () => es.sign({ ...claims, iss: 'https://IDP.example.com' })],
  ['the issuer with its port', () => es.sign({ ...claims, iss: 'https://idp.example.com:443' })],
  ['the issuer over http', () => es.sign({ ...claims, iss: 'http://idp.example.com' })],
  ['the issuer with a prefix', () => es.sign({ ...claims, iss: `${ISSUER}.evil.example` })],
  ['the issuer as user of another host', () => es.sign({ ...claims, iss: 'https://idp.example.com@evil.example' })],
  ['the issuer in other letters (homograph)', () => es.sign({ ...claims, iss: 'https://іdp.example.com' })],
  ['the issuer with white space', () => es.sign({ ...claims, iss: ` ${ISSUER}` })],
  ['the issuer with a null byte', () => es.sign({ ...claims, iss: `${ISSUER}\u0000.evil.example` })],
  ['the issuer in a list', () => es.sign({ ...claims, iss: [ISSUER] })],
  ['the issuer as an object', () => es.sign({ ...claims, iss: { toString: ISSUER } })],
  ['the issuer __proto__', () => es.sign({ ...claims, iss: '__proto__' })],

  // Audiences.
  ['no audience', () => es.sign(without('aud')), 'audience_mismatch'],
  ['another audience', () => es.sign({ ...claims, aud: 'other' }), 'audience_mismatch'],
  ['an audience with a prefix', () => es.sign({ ...claims, aud: 'svc2' }), 'audience_mismatch'],
  ['an audience in capitals', () => es.sign({ ...claims, aud: 'SVC' }), 'audience_mismatch'],
  ['an empty list of audiences', () => es.sign({ ...claims, aud: [] }), 'audience_mismatch'],
  ['a list with something else than texts', () => es.sign({ ...claims, aud: [{}, 'svc'] }), 'audience_mismatch'],
  ['a list in a list', () => es.sign({ ...claims, aud: [['svc']] }), 'audience_mismatch'],
  ['an audience that is an object', () => es.sign({ ...claims, aud: { svc: true } }), 'audience_mismatch'],
  ['an audience that is null', () => raw(JSON.stringify({ ...claims, aud: null })), 'audience_mismatch'],
  ['audiences in one text', () => es.sign({ ...claims, aud: 'svc other' }), 'audience_mismatch'],
  [
    'an ID token of several audiences',
    () => es.sign({ ...claims, aud: ['app', 'svc'], nonce: 'n' }),
    'audience_mismatch',
  ],
  ['an ID token with at_hash', () => es.sign({ ...claims, aud: ['app', 'svc'], at_hash: 'h' }), 'audience_mismatch'],

  // Times.
  ['no exp', () => es.sign(without('exp'))],
  ['no iat', () => es.sign(without('iat'))],
  ['expired by the skew and a second', () => es.sign({ ...claims, iat: SECONDS - 900, exp: SECONDS - 61 })],
  ['expired exactly by the skew', () => es.sign({ ...claims, iat: SECONDS - 900, exp: SECONDS - 60 })],
  ['expired long ago', () => es.sign({ ...claims, iat: 1, exp: 2 })],
  ['exp infinite', () => raw(JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e999'))],
  ['exp beyond exact numbers', () => raw(JSON.stringify(claims).replace(/"exp":\d+/, '"exp":9007199254740993'))],
  ['exp a text', () => raw(JSON.stringify(claims).replace(/"exp":(\d+)/, '"exp":"$1"'))],
  ['exp a fraction', () => raw(JSON.stringify(claims).replace(/"exp":(\d+)/, '"exp":$1.5'))],
  ['exp null', () => raw(JSON.stringify(claims).replace(/"exp":\d+/, '"exp":null'))],
  ['exp true', () => raw(JSON.stringify(claims).replace(/"exp":\d+/, '"exp":true'))],
  ['exp negative', () => raw(JSON.stringify(claims).replace(/"exp":\d+/, '"exp":-1'))],
  ['exp in milliseconds', () => es.sign({ ...claims, exp: NOW + 600_000 }), 'credential_lifetime_exceeded'],
  ['exp before iat', () => es.sign({ ...claims, iat: SECONDS + 30, exp: SECONDS + 20 })],
  [
    'a lifetime of a day and a second',
    () => es.sign({ ...claims, iat: SECONDS, exp: SECONDS + 86_401 }),
    'credential_lifetime_exceeded',
  ],
  [
    'a lifetime of a century',
    () => es.sign({ ...claims, exp: SECONDS + 3_155_760_000 }),
    'credential_lifetime_exceeded',
  ],
  ['issued beyond the skew', () => es.sign({ ...claims, iat: SECONDS + 61 })],
  ['issued a million seconds ahead', () => es.sign({ ...claims, iat: SECONDS + 1e6, exp: SECONDS + 1e6 + 60 })],
  ['iat a text', () => raw(JSON.stringify(claims).replace(/"iat":(\d+)/, '"iat":"$1"'))],
  ['not yet valid', () => es.sign({ ...claims, nbf: SECONDS + 61 })],
  ['nbf a text', () => raw(members('"nbf":"0"'))],
  ['nbf NaN as null', () => raw(members('"nbf":null'))],

  // Subjects.
  ['no subject', () => es.sign(without('sub'))],
  ['an empty subject', () => es.sign({ ...claims, sub: '' })],
  ['a subject that is a number', () => raw(JSON.stringify({ ...claims, sub: 1 }))],
  ['an e-mail address as subject', () => es.sign({ ...claims, sub: 'ada@example.com' })],
  ['a name as subject', () => es.sign({ ...claims, sub: 'Ada Lovelace' })],
  ['a subject with a line break', () => es.sign({ ...claims, sub: 'u_1\nadmin' })],
  ['a subject with a null byte', () => es.sign({ ...claims, sub: 'u_1\u0000' })],
  ['a subject with a character that turns the line around', () => es.sign({ ...claims, sub: 'u_\u202e1' })],
  ['a path as subject', () => es.sign({ ...claims, sub: 'globex/u_1' })],
  ['a token as subject', async () => es.sign({ ...claims, sub: (await es.sign({})).slice(0, 200) })],
  ['a subject of 2000 characters', () => es.sign({ ...claims, sub: 'u'.repeat(2000) })],

  // Grants in the claims.
  ['no tenant', () => es.sign(without('svc_tenant')), 'forbidden'],
  ['a tenant that is a list', () => es.sign({ ...claims, svc_tenant: ['acme', 'globex'] }), 'forbidden'],
  ['a tenant with a slash', () => es.sign({ ...claims, svc_tenant: 'acme/globex' }), 'forbidden'],
  ['no workspaces', () => es.sign(without('svc_workspaces')), 'forbidden'],
  ['an empty list of workspaces', () => es.sign({ ...claims, svc_workspaces: [] }), 'forbidden'],
  ['a wildcard among workspaces', () => es.sign({ ...claims, svc_workspaces: ['acme-prod', '*'] }), 'forbidden'],
  [
    'workspaces with something else than texts',
    () => es.sign({ ...claims, svc_workspaces: ['acme-prod', 1] }),
    'forbidden',
  ],
  ['workspaces as an object', () => es.sign({ ...claims, svc_workspaces: { 'acme-prod': true } }), 'forbidden'],

  // Sender constraints that are not met.
  [
    'bound to a key, sent as bearer',
    () => es.sign({ ...claims, cnf: { jkt: client.thumbprint } }),
    'sender_constraint_missing',
  ],
  [
    'bound to a certificate, sent without one',
    () => es.sign({ ...claims, cnf: { 'x5t#S256': 'x' } }),
    'sender_constraint_missing',
  ],
  ['bound in an unknown way', () => es.sign({ ...claims, cnf: { kid: 'x' } }), 'sender_constraint_missing'],
  ['bound to nothing at all', () => es.sign({ ...claims, cnf: {} }), 'sender_constraint_missing'],
  ['cnf null', () => raw(members('"cnf":null')), 'sender_constraint_missing'],
  ['cnf a text', () => es.sign({ ...claims, cnf: client.thumbprint }), 'sender_constraint_missing'],
  [
    'bound to two things',
    () => es.sign({ ...claims, cnf: { jkt: client.thumbprint, 'x5t#S256': 'x' } }),
    'sender_constraint_missing',
  ],
  [
    'bound to a certificate and to a key that is no text',
    () => es.sign({ ...claims, cnf: { jkt: null, 'x5t#S256': 'x' } }),
    'sender_constraint_missing',
  ],
  [
    'bound to a key that is no text',
    () => es.sign({ ...claims, cnf: { jkt: [client.thumbprint] } }),
    'sender_constraint_missing',
  ],
];

describe(
  covers('auth.bearer.validated-first', 'auth.challenge.resource-metadata', 'auth.models.no-fall-through'),
  () => {
    test.each(REFUSED)('refuses a token: %s', async (_name, token, code = UNAUTHENTICATED) => {
      const text = await token();
      const outcome = await auth().authenticate(bearing(text));
      expect(outcome.kind).toBe('refused');
      if (outcome.kind !== 'refused') return;
      const { status, headers, body } = refusal(outcome.error);
      expect({ code: outcome.error.code, status }).toEqual({ code, status: code === 'forbidden' ? 403 : 401 });
      if (status === 401) {
        expect(headers['www-authenticate']).toMatch(
          /^Bearer resource_metadata="https:\/\/svc\.example\.com\/\.well-known\/oauth-protected-resource"/,
        );
      }
      const said = JSON.stringify([headers, body]);
      for (const part of [text, ...text.split('.')].filter(({ length }) => length > 12))
        expect(said).not.toContain(part);
      for (const secret of ['acme', 'globex', 'u_1', 'ada@', 'runs:read', KEY]) expect(said).not.toContain(secret);
    });
  },
);

describe('the Authorization header', () => {
  const HEADERS: readonly [string, Record<string, string | string[]>][] = [
    ['none', {}],
    ['empty', { authorization: '' }],
    ['the scheme alone', { authorization: 'Bearer' }],
    ['the scheme and a space', { authorization: 'Bearer ' }],
    ['two spaces', { authorization: `Bearer  ${KEY}` }],
    ['a tab', { authorization: `Bearer\t${KEY}` }],
    ['a trailing space', { authorization: `Bearer ${KEY} ` }],
    ['a leading space', { authorization: ` Bearer ${KEY}` }],
    ['no scheme', { authorization: KEY }],
    ['Basic', { authorization: `Basic ${base64url(`key:${KEY}`)}` }],
    ['quotation marks', { authorization: `Bearer "${KEY}"` }],
    ['two of them', { authorization: [`Bearer ${KEY}`, `Bearer ${KEY}`] }],
    ['two of them joined', { authorization: `Bearer ${KEY}, Bearer ${KEY}` }],
    ['two spellings of its name', { authorization: `Bearer ${KEY}`, Authorization: `Bearer ${KEY}` }],
    ['parameters', { authorization: `Bearer ${KEY};admin=1` }],
    ['a null byte', { authorization: `Bearer ${KEY}\u0000` }],
    ['a line break', { authorization: `Bearer ${KEY}\r\nx: y` }],
    ['letters outside of ASCII', { authorization: `Bearer ${KEY}é` }],
    ['full-width letters', { authorization: `Ｂｅａｒｅｒ ${KEY}` }],
    ['a key in another case', { authorization: `Bearer ${KEY.toUpperCase()}` }],
    ['a key with one more character', { authorization: `Bearer ${KEY}0` }],
    ['a key with one less', { authorization: `Bearer ${KEY.slice(0, -1)}` }],
    ['9000 characters', { authorization: `Bearer ${'k'.repeat(9000)}` }],
    ['a scheme of 70 characters', { authorization: `${'B'.repeat(70)} ${KEY}` }],
    ['the hash of the key', { authorization: `Bearer ${hashApiKey(KEY)}` }],
    ['the key as DPoP', { authorization: `DPoP ${KEY}` }],
    ['the key in another header', { 'x-api-key': KEY }],
    ['the key in a cookie', { cookie: `authorization=Bearer ${KEY}` }],
    ['the key in Proxy-Authorization', { 'proxy-authorization': `Bearer ${KEY}` }],
    ['an asserted identity', { 'x-forwarded-user': 'p_1', 'x-forwarded-client-cert': 'Hash=abc' }],
  ];

  test.each(HEADERS)('is refused: %s', async (_name, headers) => {
    const outcome = await auth().authenticate({ headers });
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: UNAUTHENTICATED, status: 401 } });
    if (outcome.kind === 'refused') expect(JSON.stringify(refusal(outcome.error))).not.toContain(KEY.slice(0, 12));
  });

  test('accepts the unchanged key', async () => {
    expect(await auth().authenticate(bearing(KEY))).toMatchObject({ kind: 'authenticated' });
  });
});

describe('DPoP', () => {
  const URL_ = `${ORIGIN}/v1/runs/run_1`;
  type Options = Parameters<ProofMaker['proof']>[0];

  async function sent(options: Partial<Options>, request: Partial<RequestHead> = {}, maker = client, cnf?: object) {
    const token = await es.sign({ ...claims, cnf: cnf ?? { jkt: client.thumbprint } });
    const proof = await maker.proof({ htm: 'GET', htu: URL_, token, iat: SECONDS, ...options });
    const headers = { authorization: `DPoP ${token}`, dpop: proof };
    return { method: 'GET', url: '/v1/runs/run_1', ...request, headers };
  }

  const TAKEN_PROOFS: readonly [string, () => Promise<RequestHead>][] = [
    ['as it should be', () => sent({})],
    ['for a request with a query', () => sent({}, { url: '/v1/runs/run_1?x=1' })],
    ['with a query and a fragment of its own', () => sent({ htu: `${URL_}?x=1#y` })],
    ['with the default port', () => sent({ htu: 'https://svc.example.com:443/v1/runs/run_1' })],
    ['with the host in capitals', () => sent({ htu: 'HTTPS://SVC.example.com/v1/runs/run_1' })],
    ['with letters in percent-encoding', () => sent({ htu: `${ORIGIN}/v1/runs/run%5F1` })],
    ['with dot segments', () => sent({ htu: `${ORIGIN}/v1/x/../runs/./run_1` })],
    ['for a Web request', () => sent({}, { url: 'http://localhost:8787/v1/runs/run_1' })],
    ['for an Express request behind a mount path', () => sent({}, { url: '/run_1', originalUrl: '/v1/runs/run_1' })],
    ['at the edge of the window', () => sent({ iat: SECONDS - 60 })],
    ['at the other edge', () => sent({ iat: SECONDS + 60 })],
    ['with a member in cnf that is not understood', () => sent({}, {}, client, { jkt: client.thumbprint, kid: 'x' })],
    ['that expires in a second', () => sent({ claims: { exp: SECONDS + 1 } })],
    ['with a fraction of a second', () => sent({ claims: { exp: SECONDS + 0.5, nbf: SECONDS - 0.5 } })],
    ['that becomes valid within the window', () => sent({ claims: { nbf: SECONDS + 60 } })],
  ];

  test.each(TAKEN_PROOFS)('accepts a proof: %s', async (_name, request) => {
    expect(await auth().authenticate(await request())).toMatchObject({
      kind: 'authenticated',
      principal: { binding: 'dpop' },
    });
  });

  const header = (change: object) => sent({ header: change });
  /** Signs a proof whose header contradicts the algorithm or its rules. */
  async function odd(change: object) {
    const request = await sent({});
    const [, payload = ''] = request.headers.dpop.split('.');
    const head = { alg: 'ES256', typ: 'dpop+jwt', jwk: client.publicJwk, ...change };
    const dpop = await client.signed(head, JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return { ...request, headers: { ...request.headers, dpop } };
  }
  /** Sends a proof with another signature. */
  async function resigned(change: (signature: string) => string) {
    const request = await sent({});
    const dpop = changed(request.headers.dpop, 2, change);
    return { ...request, headers: { ...request.headers, dpop } };
  }
  const flipped = (signature: string) => {
    const bytes = Buffer.from(signature, 'base64url');
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return bytes.toString('base64url');
  };
  const claim = (change: object) => sent({ claims: change });

  const REFUSED_PROOFS: readonly [string, () => Promise<RequestHead>][] = [
    [
      'no proof',
      async () => ({ ...(await sent({})), headers: { authorization: (await sent({})).headers.authorization } }),
    ],
    [
      'two proofs',
      async () => {
        const request = await sent({});
        return { ...request, headers: { ...request.headers, dpop: [request.headers.dpop, request.headers.dpop] } };
      },
    ],
    [
      'two proofs joined',
      async () => {
        const request = await sent({});
        return {
          ...request,
          headers: { ...request.headers, dpop: `${request.headers.dpop}, ${request.headers.dpop}` },
        };
      },
    ],
    ['no JWT', async () => ({ ...(await sent({})), headers: { ...(await sent({})).headers, dpop: 'proof' } })],
    [
      'the token itself',
      async () => {
        const request = await sent({});
        return { ...request, headers: { ...request.headers, dpop: request.headers.authorization.slice(5) } };
      },
    ],
    ['another key', async () => sent({}, {}, await proofMaker())],
    ['another key in jwk', async () => header({ jwk: (await proofMaker()).publicJwk })],
    ['a private member in jwk', () => header({ jwk: { ...client.publicJwk, d: 'AAAA' } })],
    ['a symmetric jwk', () => header({ jwk: { kty: 'oct', k: 'AAAA' } })],
    ['no jwk', () => header({ jwk: undefined })],
    ['a jwk without a type', () => header({ jwk: { ...client.publicJwk, kty: undefined } })],
    ...['toString', 'constructor', 'hasOwnProperty', '__lookupGetter__'].map(
      (kty): [string, () => Promise<RequestHead>] => [
        `a jwk of the type ${kty}`,
        () => header({ jwk: { ...client.publicJwk, kty } }),
      ],
    ),
    ['an EC jwk with the modulus of an RSA key', () => header({ jwk: { ...client.publicJwk, n: 'AQAB' } })],
    ['an EC jwk with the exponent of an RSA key', () => header({ jwk: { ...client.publicJwk, e: 'AQAB' } })],
    ['typ JWT', () => header({ typ: 'JWT' })],
    ['typ in capitals', () => header({ typ: 'DPOP+JWT' })],
    ['no typ', () => header({ typ: undefined })],
    ['a key id', () => header({ kid: 'x' })],
    ['jku', () => header({ jku: 'https://evil.example' })],
    ['zip', () => header({ zip: 'DEF' })],
    ['another method', () => sent({ htm: 'POST' })],
    ['the method in lower case', () => sent({ htm: 'get' })],
    ['no method', () => claim({ htm: undefined })],
    ['another path', () => sent({ htu: `${ORIGIN}/v1/runs/run_2` })],
    ['a path in another case', () => sent({ htu: `${ORIGIN}/v1/runs/RUN_1` })],
    ['a slash more', () => sent({ htu: `${URL_}/` })],
    ['a slash in percent-encoding', () => sent({ htu: `${ORIGIN}/v1/runs%2Frun_1` })],
    ['another host', () => sent({ htu: 'https://evil.example/v1/runs/run_1' })],
    ['another port', () => sent({ htu: 'https://svc.example.com:8443/v1/runs/run_1' })],
    ['another scheme', () => sent({ htu: 'http://svc.example.com/v1/runs/run_1' })],
    ['credentials in htu', () => sent({ htu: 'https://x@svc.example.com/v1/runs/run_1' })],
    ['a htu that only a lenient parser reads', () => sent({ htu: 'https:\\\\svc.example.com\\v1\\runs\\run_1' })],
    ['a htu with white space', () => sent({ htu: ` ${URL_}` })],
    ['a htu without slashes', () => sent({ htu: 'https:svc.example.com/v1/runs/run_1' })],
    ['a htu in other letters', () => sent({ htu: 'https://ſvc.example.com/v1/runs/run_1' })],
    ['no htu', () => claim({ htu: undefined })],
    ['a target that is no path', () => sent({}, { url: '//svc.example.com/v1/runs/run_1' })],
    ['the hash of another token', () => claim({ ath: 'AAAA' })],
    ['no ath', () => claim({ ath: undefined })],
    ['iat before the window', () => sent({ iat: SECONDS - 61 })],
    ['iat after the window', () => sent({ iat: SECONDS + 61 })],
    ['iat a text', () => claim({ iat: String(SECONDS) })],
    ['no iat', () => claim({ iat: undefined })],
    ['no jti', () => claim({ jti: undefined })],
    ['an empty jti', () => claim({ jti: '' })],
    ['a jti of 300 characters', () => claim({ jti: 'x'.repeat(300) })],
    ['a jti that is an object', () => claim({ jti: {} })],
    ['expired by its exp', () => claim({ exp: SECONDS })],
    ['exp an hour past', () => claim({ exp: SECONDS - 3600 })],
    ['exp a text', () => claim({ exp: String(SECONDS + 60) })],
    ['exp null', () => claim({ exp: null })],
    ['nbf an hour ahead', () => claim({ nbf: SECONDS + 3600 })],
    ['nbf after the window', () => claim({ nbf: SECONDS + 61 })],
    ['nbf a text', () => claim({ nbf: String(SECONDS) })],
    [
      'signed by another key than its jwk',
      async () => sent({ header: { jwk: client.publicJwk } }, {}, await proofMaker()),
    ],
    ['a signature of zeros', () => resigned(() => Buffer.alloc(64).toString('base64url'))],
    ['an empty signature', () => resigned(() => '')],
    ['a signature with a changed bit', () => resigned((signature) => flipped(signature))],
    [
      'the signature of another proof',
      async () => {
        const [, , other = ''] = (await sent({})).headers.dpop.split('.');
        return resigned(() => other);
      },
    ],
    ['an algorithm that is not allowed', () => odd({ alg: 'ES384' })],
    ['an algorithm for another key', () => odd({ alg: 'RS256' })],
    ['alg none', () => odd({ alg: 'none' })],
    ['alg HS256', () => odd({ alg: 'HS256' })],
    ['crit', () => odd({ crit: ['exp'] })],
    ['b64', () => odd({ b64: true })],
    ['cty', () => odd({ cty: 'JWT' })],
    ['x5u', () => odd({ x5u: 'https://evil.example' })],
    ['x5c', () => odd({ x5c: ['AAAA'] })],
    ['enc', () => odd({ enc: 'A128GCM' })],
  ];

  test.each(REFUSED_PROOFS)('refuses a proof: %s', async (_name, request) => {
    const outcome = await auth().authenticate(await request());
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: UNAUTHENTICATED, status: 401 } });
    if (outcome.kind !== 'refused') return;
    expect(outcome.error.headers['www-authenticate']).toMatch(
      /^Bearer .*, DPoP error="invalid_dpop_proof", algs="RS256 /,
    );
  });

  test('accepts a proof once', async () => {
    const host = auth();
    const request = await sent({});
    expect(await host.authenticate(request)).toMatchObject({ kind: 'authenticated' });
    expect(await host.authenticate(request)).toMatchObject({
      kind: 'refused',
      error: { message: expect.stringMatching(/used before/) },
    });
  });

  test('accepts the odd proof without a contradiction', async () => {
    expect(await auth().authenticate(await odd({}))).toMatchObject({ kind: 'authenticated' });
  });

  test('accepts two proofs of one client, and tells two clients apart', async () => {
    const host = auth();
    const other = await proofMaker();
    const own = { jkt: other.thumbprint };
    expect(await host.authenticate(await sent({}))).toMatchObject({ kind: 'authenticated' });
    expect(await host.authenticate(await sent({}))).toMatchObject({ kind: 'authenticated' });
    expect(await host.authenticate(await sent({}, {}, other, own))).toMatchObject({ kind: 'authenticated' });
    // Signed by the key of one client, and sent as the other after both were seen.
    const forged = await sent({ header: { jwk: client.publicJwk } }, {}, other);
    expect(await host.authenticate(forged)).toMatchObject({ kind: 'refused' });
  });

  const INVALID: readonly [string, Partial<DpopOptions>][] = [
    ['an origin with a path', { origin: `${ORIGIN}/v1` }],
    ['an origin that is no URL', { origin: 'svc.example.com' }],
    ['no algorithm', { algorithms: [] }],
    ['an unknown algorithm', { algorithms: ['HS256' as never] }],
    ['a window of 0 s', { windowSeconds: 0 }],
    ['a window of -1 s', { windowSeconds: -1 }],
    ['a window of 301 s', { windowSeconds: 301 }],
    ['a window of NaN', { windowSeconds: Number.NaN }],
    ['a window of Infinity', { windowSeconds: Number.POSITIVE_INFINITY }],
  ];
  test.each(INVALID)('is not configured with %s', (_name, changes) => {
    const now = () => NOW;
    const options = { origin: ORIGIN, replays: memoryReplayStore({ now }), now, ...changes };
    expect(() => dpopVerifier(options)).toThrow(TypeError);
  });

  test('requests its own nonce for a proof without it, and accepts the proof with it', async () => {
    const now = () => NOW;
    const nonces = statelessNonces({ secret: new Uint8Array(32), now });
    const dpop = dpopVerifier({ origin: ORIGIN, replays: memoryReplayStore({ now }), now, nonces });
    const issuers = [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys: localKeys(keySetOf(es)) } as const];
    const host = authenticator({ lanes: [bearerLane({ issuers, dpop, now })] });
    const asked = await host.authenticate(await sent({ nonce: 'of-another-host' }));
    expect(asked).toMatchObject({
      kind: 'refused',
      error: {
        // A client without the nonce has made no mistake yet.
        rejected: false,
        headers: {
          'www-authenticate': expect.stringMatching(/DPoP error="use_dpop_nonce"/),
          'dpop-nonce': nonces.current(),
        },
      },
    });
    expect(asked.kind === 'refused' && asked.error.headers['www-authenticate']).not.toContain('invalid_token');
    expect(await host.authenticate(await sent({ nonce: nonces.current() }))).toMatchObject({
      kind: 'authenticated',
      headers: { 'dpop-nonce': nonces.current() },
    });
  });

  test('refuses an unbound token that is sent with a proof', async () => {
    const token = await es.sign(claims);
    const proof = await client.proof({ htm: 'GET', htu: URL_, token, iat: SECONDS });
    const request = (scheme: string) => ({
      method: 'GET',
      url: '/v1/runs/run_1',
      headers: { authorization: `${scheme} ${token}`, dpop: proof },
    });
    expect(await auth().authenticate(request('Bearer'))).toMatchObject({ principal: { binding: 'bearer' } });
    expect(await auth().authenticate(request('DPoP'))).toMatchObject({ error: { code: 'sender_constraint_missing' } });
  });
});
