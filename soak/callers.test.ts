import { env } from 'node:process';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { type CallersFigures, callersSoak } from './callers.ts';
import { ACCEPTED } from './guarded-host.ts';
import { type KnownKey, verdictOn } from './known-key.ts';
import { type KnownQuota, quotaFinding } from './metered-keys.ts';

/** `SVC_SOAK_SEED=…` sets another one, as `.ci/run` does; `npm run soak` draws one. */
const seed = Number(env.SVC_SOAK_SEED ?? 1);
/** Short enough to run with every change; `npm run soak -- --callers` takes any duration. */
const SECONDS = 8;

/** A loaded machine gets longer, until each judged act has happened. */
const MOST_SECONDS = 60;

/** The judged acts that have not happened. Without them, the soak would pass as well. */
function missing({ valid, tokens, strangers, keys, quotas }: CallersFigures): string[] {
  const acts: Readonly<Record<string, boolean>> = {
    'a caller of each kind': ['dpop', 'key', 'svid', 'token'].every((kind) => (valid[kind] ?? 0) > 0),
    'six tokens': tokens > 5,
    'refusals above the budget of the address': (strangers.sameClaims?.[429] ?? 0) > 0,
    'changes of keys': Math.min(...Object.values(keys)) > 0,
    'quotas that are used up, also after a rotation': Math.min(...Object.values(quotas)) > 0,
  };
  return Object.keys(acts).filter((act) => acts[act] === false);
}

describe(covers('auth.rate-limit.valid-key-unaffected', 'auth.api-key.revoked-401', 'auth.rate-limit.quota'), () => {
  test('no valid caller is refused while strangers attack from its address, no revoked key and no request above a quota is accepted', async () => {
    const until = (figures: CallersFigures) => missing(figures).length === 0;
    const outcome = await callersSoak({ seconds: SECONDS, mostSeconds: MOST_SECONDS, until, seed, say: () => {} });
    const again = `npm run soak -- --callers --minutes ${SECONDS / 60} --seed ${seed}`;
    expect(outcome.findings, `The log is in ${outcome.folder}. To repeat: ${again}`).toEqual([]);
    expect(missing(outcome)).toEqual([]);
  }, 300_000);
});

describe('the finding about a request with a quota', () => {
  const DAY_MS = 86_400_000;
  const quota: KnownQuota = { id: 'key_1', limit: 5, begun: 5, accepted: 5, since: 0 };
  test.each([
    ['the last request of a quota', quota, 404, 0, undefined],
    ['a request above it that is accepted', { ...quota, begun: 6, accepted: 6 }, 404, 0, /6 requests accepted/],
    ['a request above it that is refused', { ...quota, begun: 6 }, 429, 0, undefined],
    ['a request of the next day', { ...quota, begun: 6, accepted: 6 }, 404, DAY_MS, undefined],
    ['a request within it that is refused', { ...quota, accepted: 4 }, 429, 0, /got 429 at the request 5 of its 5/],
    ['another answer', quota, 503, 0, /got 503/],
    ['no answer', quota, 0, 0, undefined],
  ] as const)('%s', (_title, known, status, at, finding) => {
    const found = quotaFinding(known, status === 404 ? ACCEPTED : status, at);
    if (finding === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(finding);
  });
});

describe('the verdict on a request with a key', () => {
  const live: KnownKey = { key: 'k', id: 'key_1', isRevoked: false, changes: 0, endsAt: undefined };
  const changing = { ...live, changes: 1 };
  const revoked = { ...live, isRevoked: true };
  const ending = { ...live, endsAt: 150 };
  test.each([
    ['a live key', live, live, 'accepted'],
    ['a key that is revoked before the request', revoked, revoked, 'refused'],
    ['a key that is being revoked', changing, changing, 'either'],
    ['a revocation that begins during the request', live, changing, 'either'],
    ['a revocation that is answered during the request', changing, revoked, 'either'],
    ['a grace period that ends during the request', ending, ending, 'either'],
    ['a grace period that ends later', { ...ending, endsAt: 300 }, { ...ending, endsAt: 300 }, 'accepted'],
    ['a grace period that has ended', { ...ending, endsAt: 100 }, { ...ending, endsAt: 100 }, 'refused'],
  ] as const)('%s', (_title, before, after, verdict) => {
    expect(verdictOn(before, after, { begunAt: 100, endedAt: 200 })).toBe(verdict);
  });
});
