import { authenticator } from '@svc/auth';
import { bearerLane, localKeys, type TokenIssuer } from '@svc/auth/bearer';
import { afterEach, expect, test, vi } from 'vitest';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const ISSUER = 'https://idp.example.com';

afterEach(() => {
  vi.useRealTimers();
});

test.each<[string, NonNullable<TokenIssuer['isDisabled']>, string]>([
  ['an account that is open is let in', () => false, 'authenticated'],
  ['the answer may take its time', async () => false, 'authenticated'],
  ['an account that has been closed is refused while its tokens still run', () => true, 'key_revoked'],
  ['an answer that is neither yes nor no refuses the caller', () => JSON.parse('null'), 'key_revoked'],
  ['a directory that throws refuses the caller', () => Promise.reject(new Error('down')), 'service_unavailable'],
  ['a directory that never answers refuses the caller', neverAnswers, 'service_unavailable'],
])('%s', async (_title, isDisabled, expected) => {
  const key = await signer('ES256');
  const iat = NOW / 1000 - 10;
  const claims = { iss: ISSUER, aud: 'svc', sub: 'u_1', iat, exp: iat + 600, scope: 'runs:read' };
  const token = await key.sign({ ...claims, svc_tenant: 'acme', svc_workspaces: ['acme-prod'] });
  const issuer = { issuer: ISSUER, audience: 'svc', profile: 'user', keys: localKeys(keySetOf(key)) } as const;
  const auth = authenticator({
    lanes: [bearerLane({ issuers: [{ ...issuer, isDisabled }], now: () => NOW })],
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const outcome = await auth.authenticate({ headers: { authorization: `Bearer ${token}` } });
  expect(outcome.kind === 'refused' ? outcome.error.code : outcome.kind).toBe(expected);
});

/** Never settles. The fake clock passes its time limit right after the wait has begun. */
function neverAnswers(): Promise<boolean> {
  setImmediate(() => vi.advanceTimersByTime(5_000));
  return new Promise(() => {});
}
