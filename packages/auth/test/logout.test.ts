import { type CredentialFacts, isWithdrawn, type Withdrawal } from '@svc/auth';
import { localKeys } from '@svc/auth/bearer';
import { memoryReplayStore } from '@svc/auth/dpop';
import { type LogoutIssuer, type LogoutReceiverOptions, logoutReceiver } from '@svc/auth/logout';
import { describe, expect, test } from 'vitest';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const second = NOW / 1000;
const ISSUER = 'https://idp.example.com';
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const [idp, stranger] = [await signer('ES256', 'k'), await signer('ES256', 'k')];
const CLAIMS = {
  ...{ iss: ISSUER, aud: 'console', iat: second, exp: second + 120, jti: 'logout-1', sub: 'u_1', sid: 's_1' },
  events: { [EVENT]: {} },
};
const TYPE = { typ: 'logout+jwt' };

function receiving(changes: Partial<LogoutReceiverOptions> = {}, issuer: Partial<LogoutIssuer> = {}) {
  const withdrawals: Withdrawal[] = [];
  const world = { time: NOW };
  const now = () => world.time;
  const receive = logoutReceiver({
    issuers: [{ issuer: ISSUER, clientIds: ['console'], keys: localKeys(keySetOf(idp)), ...issuer }],
    denyList: { deny: async (withdrawal) => void withdrawals.push(withdrawal) },
    replays: memoryReplayStore({ now, monotonic: now }),
    now,
    ...changes,
  });
  const send = async (claims: object = {}, header: object = TYPE, by = idp) =>
    receive(new URLSearchParams({ logout_token: await by.sign({ ...CLAIMS, ...claims }, header) }).toString());
  return { receive, send, withdrawals, world };
}

/** The facts of an access token of the session. */
const token = (facts: object = {}): CredentialFacts => ({
  ...{ tenant: 'acme', mode: 'live', principals: ['p_1'] },
  tokens: [{ issuer: ISSUER, subject: 'u_1', sid: 's_1', issuedAt: NOW - 60_000, ...facts }],
});

describe('a back-channel logout', () => {
  test('withdraws the tokens of its session, until the last of them has expired', async () => {
    const { send, withdrawals } = receiving({ maxLifetimeSeconds: 3600 });
    expect(await send()).toEqual({
      ...{ status: 200, body: '{}' },
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    });
    const isDenied = (facts: CredentialFacts, at = NOW) => withdrawals.some((each) => isWithdrawn(facts, each, at));
    expect(isDenied(token())).toBe(true);
    expect(isDenied(token({ sid: 's_2' }))).toBe(false);
    expect(isDenied(token({ sid: undefined }))).toBe(false);
    expect(isDenied(token({ issuer: 'https://other.example.com' }))).toBe(false);
    // A token of the last second before the logout, with the accepted difference of clocks.
    expect(isDenied(token(), NOW + 3_659_999)).toBe(true);
    expect(isDenied(token(), NOW + 3_660_000)).toBe(false);
  });

  test('without sid withdraws every earlier token of the subject, and no later one', async () => {
    const { send, withdrawals } = receiving();
    await send({ sid: undefined });
    const isDenied = (facts: CredentialFacts) => withdrawals.some((each) => isWithdrawn(facts, each, NOW));
    expect(isDenied(token({ sid: 's_2' }))).toBe(true);
    expect(isDenied(token({ issuedAt: NOW }))).toBe(true);
    expect(isDenied(token({ issuedAt: NOW + 1000 }))).toBe(false);
    expect(isDenied(token({ subject: 'u_2' }))).toBe(false);
  });

  test('withdraws tokens without sid, too, where the issuer is configured so', async () => {
    const { send, withdrawals } = receiving({}, { endsEverySession: true });
    await send();
    expect(withdrawals.some((each) => isWithdrawn(token({ sid: undefined }), each, NOW))).toBe(true);
  });

  test.each<[string, object, object?, boolean?]>([
    ['of another issuer', { iss: 'https://other.example.com' }],
    ['for another client', { aud: 'other' }],
    ['without aud', { aud: undefined }],
    ['without iat', { iat: undefined }],
    ['without exp', { exp: undefined }],
    ['that has expired', { exp: second - 61, iat: second - 100 }],
    ['of the future', { iat: second + 61, exp: second + 90 }],
    ['with a life of an hour', { exp: second + 3600 }],
    ['without jti', { jti: undefined }],
    ['with an empty jti', { jti: '' }],
    ['without sub and sid', { sub: undefined, sid: undefined }],
    ['with an empty sid', { sid: '' }],
    ['with sid as a number', { sid: 1 }],
    ['with nonce', { nonce: 'n' }],
    ['with nonce null', { nonce: null }],
    ['without events', { events: undefined }],
    ['with events as a list', { events: [EVENT] }],
    ['with another event', { events: { 'https://schemas.openid.net/event/backchannel-logout': {} } }],
    ['with the event as a text', { events: { [EVENT]: '' } }],
    ['with the event null', { events: { [EVENT]: null } }],
    ['of the type of an access token', {}, { typ: 'at+jwt' }],
    ['without a type', {}, {}],
    ['of a foreign key', {}, TYPE, true],
  ])('%s is refused with 400, and withdraws nothing', async (_title, claims, header = TYPE, isForeign = false) => {
    const { send, withdrawals } = receiving();
    const { status, headers, body } = await send(claims, header, isForeign ? stranger : idp);
    expect([status, headers['cache-control'], JSON.parse(body).error]).toEqual([400, 'no-store', 'invalid_request']);
    expect(body).not.toContain('u_1');
    expect(withdrawals).toEqual([]);
  });

  test.each([
    ['no parameter', () => 'x=y'],
    ['the parameter twice', (text: string) => `logout_token=${text}&logout_token=${text}`],
    [
      'an ID token in the form of two parts',
      (text: string) => `logout_token=${text.split('.').slice(0, 2).join('.')}.`,
    ],
    ['alg none', () => `logout_token=${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
    ['a body of 20 kB', (text: string) => `logout_token=${text}&x=${'x'.repeat(20_000)}`],
  ])('with %s is refused', async (_title, formOf) => {
    const { receive, withdrawals } = receiving();
    expect((await receive(formOf(await idp.sign(CLAIMS, TYPE)))).status).toBe(400);
    expect(withdrawals).toEqual([]);
  });

  test('is accepted once, and its repetition withdraws nothing later', async () => {
    const { send, withdrawals, world } = receiving();
    expect((await send({ sid: undefined })).status).toBe(200);
    world.time += 60_000;
    expect((await send({ sid: undefined })).status).toBe(400);
    expect(new Set(withdrawals.map((each) => JSON.stringify(each))).size).toBe(1);
    expect((await send({ sid: undefined, jti: 'logout-2' })).status).toBe(200);
  });

  test('that fails is told so, and can be sent again', async () => {
    let isDown = true;
    const denyList = { deny: () => (isDown ? Promise.reject(new Error('10.0.0.7')) : Promise.resolve()) };
    const { send } = receiving({ denyList });
    const { status, body } = await send();
    expect([status, JSON.parse(body).error]).toEqual([400, 'temporarily_unavailable']);
    expect(body).not.toContain('10.0.0.7');
    isDown = false;
    expect((await send()).status).toBe(200);
  });

  test.each<[string, Partial<LogoutReceiverOptions>, Partial<LogoutIssuer>]>([
    ['the keys are unavailable', {}, { keys: { find: () => Promise.reject(new Error('down')) } }],
    ['the deny list is late', { denyList: { deny: () => new Promise(() => undefined) }, timeoutMs: 10 }, {}],
    ['the replay store fails', { replays: { claim: () => Promise.reject(new Error('down')) } }, {}],
    ['the replay store is full', { replays: { claim: () => 'full' } }, {}],
  ])('fails while %s, and tells the host why', async (_title, changes, issuer) => {
    const causes: unknown[] = [];
    const onFailure = (cause: unknown) => {
      causes.push(cause);
      throw new Error('an observer that fails, too');
    };
    const { status, body } = await receiving({ onFailure, ...changes }, issuer).send();
    expect([status, JSON.parse(body).error]).toEqual([400, 'temporarily_unavailable']);
    expect(causes).toEqual([expect.any(Error)]);
  });

  test('of an older issuer, without a type, is accepted where it is configured', async () => {
    expect((await receiving({}, { plainJwt: true }).send({}, {})).status).toBe(200);
  });

  test.each<[object, object, RegExp]>([
    [{ issuers: [] }, {}, /issuers must not be empty/],
    [{ replay: 1 }, {}, /unknown option replay/],
    [{}, { issuer: 'http://idp.example.com' }, /issuers\[0\]\.issuer must be an https URL/],
    [{}, { clientIds: [] }, /issuers\[0\]\.clientIds must be/],
    [{}, { keys: undefined }, /issuers\[0\]\.keys must be set/],
    [{ maxLifetimeSeconds: 0 }, {}, /maxLifetimeSeconds must be more than 0/],
  ])('rejects the options %o %o', (changes, issuer, message) => {
    expect(() => receiving(changes, issuer)).toThrow(message);
  });
});
