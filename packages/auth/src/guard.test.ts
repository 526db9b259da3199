import { describe, expect, test } from 'vitest';
import { guard as expressGuard } from './adapters/express.ts';
import { guard as fastifyGuard } from './adapters/fastify.ts';
import { guard as fetchGuard } from './adapters/fetch.ts';
import { guard as h3Guard } from './adapters/h3.ts';
import { guard as honoGuard } from './adapters/hono.ts';
import { guard as nestGuard } from './adapters/nestjs.ts';
import { guard as nextGuard } from './adapters/next.ts';
import { guard as nodeGuard } from './adapters/node.ts';
import { trpcContext } from './adapters/trpc.ts';
import { authenticator } from './authenticate.ts';
import { AuthError } from './errors.ts';
import { type GuardOptions, guard } from './guard.ts';
import type { AuthOutcome, Lane } from './lane.ts';
import type { Principal } from './principal.ts';
import { memoryRateLimiter } from './rate-limit/memory.ts';
import type { RequestHead } from './request-head.ts';

const principal: Principal = {
  id: 'p_1',
  kind: undefined,
  credentialId: 'c_1',
  lane: 'test',
  binding: 'dpop',
  tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
  scopes: ['runs:read'],
  subject: { issuer: 'urn:test', subjectId: 'p_1', tenant: 'acme', lane: 'test', kind: 'workload' },
};

/** A guard behind a lane with this outcome. */
function guardOf(outcome: AuthOutcome, options: Partial<GuardOptions> = {}) {
  const lane: Lane = { name: 'test', authenticate: () => outcome };
  return guard({ authenticator: authenticator({ lanes: [lane] }), ...options });
}

const fresh: AuthOutcome = { kind: 'authenticated', principal, headers: { 'dpop-nonce': 'n1' } };
const now = () => 0;
const limiterOf = (limit: number) => memoryRateLimiter({ limit, windowSeconds: 60, now });

describe('a guard sends the headers of the outcome', () => {
  test('to an admitted caller, with those of the limit', async () => {
    const verdict = await guardOf(fresh, { limiter: limiterOf(2), scope: 'runs:read' })({ headers: {} });
    expect(verdict).toMatchObject({
      admitted: true,
      headers: { 'dpop-nonce': 'n1', ratelimit: expect.stringMatching(/r=1/) },
    });
  });

  test('with 403, with those of the limit', async () => {
    const verdict = await guardOf(fresh, { limiter: limiterOf(2), scope: 'runs:create' })({ headers: {} });
    expect(verdict).toMatchObject({
      admitted: false,
      refusal: { status: 403, headers: { 'dpop-nonce': 'n1', ratelimit: expect.stringMatching(/r=1/) } },
    });
  });

  test('with 429, with Retry-After', async () => {
    const admitted = guardOf(fresh, { limiter: limiterOf(1) });
    await admitted({ headers: {} });
    expect(await admitted({ headers: {} })).toMatchObject({
      admitted: false,
      refusal: { status: 429, headers: { 'dpop-nonce': 'n1', 'retry-after': '60' } },
    });
  });

  test('with 401, also when the host writes refusals in its own envelope', async () => {
    const dpop = { algorithms: ['ES256'], error: 'use_dpop_nonce', nonce: 'n2' } as const;
    const error = new AuthError('unauthenticated', 'Use the nonce.', undefined, { dpop });
    const refuse = ({ status }: AuthError) => ({ status, headers: { 'Content-Type': 'text/plain' }, body: 'no' });
    const verdict = await guardOf({ kind: 'refused', error }, { refuse })({ headers: {} });
    expect(verdict).toMatchObject({
      admitted: false,
      refusal: {
        status: 401,
        body: 'no',
        headers: {
          'content-type': 'text/plain',
          'dpop-nonce': 'n2',
          'www-authenticate': expect.stringContaining('DPoP'),
        },
      },
    });
  });
});

const absent: RequestHead = { headers: {} };
const bearer: RequestHead = { headers: { authorization: 'Bearer 0123456789' } };
/** Knows every bearer credential as the principal. */
const knowing: Lane = { name: 'test', authenticate: (_, credential) => (credential === undefined ? undefined : fresh) };
const refusing: Lane = {
  name: 'refusing',
  authenticate: (_, credential) =>
    credential && { kind: 'refused', error: new AuthError('unauthenticated', 'No.', undefined) },
};

describe('a guard with optional', () => {
  const optional = {
    authenticator: authenticator({ lanes: [knowing] }),
    scope: 'runs:create',
    optional: true,
  } as const;

  test('admits a request without a credential, without a caller and without its scope', async () => {
    expect(await guard(optional)(absent)).toEqual({ admitted: true, principal: undefined, headers: {} });
  });

  test.each([
    ['a credential without the scope', bearer, 403],
    ['a malformed header', { headers: { authorization: 'Bearer' } }, 401],
    ['a credential of an unknown scheme', { headers: { authorization: 'Basic YTpi' } }, 401],
    ['a proof of possession without its token', { headers: { dpop: 'a.b.c' } }, 401],
    ['a delegation without its identity', { headers: { 'svc-delegation': 'a.b.c' } }, 401],
  ])('refuses %s', async (_, request, status) => {
    const lanes = status === 403 ? [knowing] : [refusing];
    const verdict = await guard({ ...optional, authenticator: authenticator({ lanes }) })(request);
    expect(verdict).toMatchObject({ admitted: false, refusal: { status } });
  });

  test('refuses a client above its budget for requests without a credential', async () => {
    const refusals = { limiter: limiterOf(2), clientOf: () => '192.0.2.1' };
    const admitted = guard({ ...optional, authenticator: authenticator({ lanes: [knowing], refusals }) });
    const kinds = [];
    for (let turn = 0; turn < 4; turn++) kinds.push((await admitted(absent)).admitted);
    expect(kinds).toEqual([true, true, false, false]);
  });

  test('is true or false, and nothing else', () => {
    const options = { ...optional, optional: 'no' };
    // @ts-expect-error: a text is no option
    expect(() => guard(options)).toThrow(/optional must be true or false/);
  });
});

describe('a guard with lanes', () => {
  const both = authenticator({ lanes: [refusing, knowing] });

  test('asks these alone', async () => {
    expect(await guard({ authenticator: both })(bearer)).toMatchObject({ admitted: false });
    expect(await guard({ authenticator: both, lanes: ['test'] })(bearer)).toMatchObject({ admitted: true });
    expect(await guard({ authenticator: both, lanes: ['refusing'] })(bearer)).toMatchObject({ admitted: false });
  });

  test.each([
    [['tset'], 'authenticator: only names tset, which is no lane of it. Its lanes are refusing, test.'],
    [[], 'authenticator: only must name at least one lane. Pass a list such as ["api-key"].'],
  ])('%j is refused when the guard is made', (lanes, message) => {
    expect(() => guard({ authenticator: both, lanes })).toThrow(message);
  });

  test('never widens: a part of the lanes has no lane of the whole', () => {
    expect(() => both.only(['test']).only(['refusing'])).toThrow(TypeError);
  });

  test('counts refusals with the whole', async () => {
    const refusals = { limiter: limiterOf(2), clientOf: () => '192.0.2.1' };
    const whole = authenticator({ lanes: [refusing, knowing], refusals });
    const statuses = [];
    for (const lanes of [['refusing'], ['test', 'refusing'], ['refusing']]) {
      const outcome = await whole.only(lanes).authenticate(bearer);
      statuses.push(outcome.kind === 'refused' && outcome.error.status);
    }
    expect(statuses).toEqual([401, 401, 429]);
  });
});

describe('onError of a guard', () => {
  const options = { authenticator: authenticator({ lanes: [knowing] }), scope: 'runs:create' };

  test('sees each refusal and its request, and is awaited', async () => {
    const seen: unknown[] = [];
    const onError = async ({ code }: AuthError, request: RequestHead) => {
      await Promise.resolve();
      seen.push([code, request]);
    };
    const admitted = guard({ ...options, onError });
    await admitted(absent);
    await admitted(bearer);
    await guard({ ...options, scope: 'runs:read', onError })(bearer);
    expect(seen).toEqual([
      ['unauthenticated', absent],
      ['forbidden', bearer],
    ]);
  });

  test('hands a refusal on when it throws', async () => {
    const onError = (error: AuthError) => {
      throw error;
    };
    await expect(guard({ ...options, onError })(bearer)).rejects.toMatchObject({ code: 'forbidden', status: 403 });
  });
});

describe('the limit of a credential itself', () => {
  const limited: AuthOutcome = {
    kind: 'authenticated',
    principal: { ...principal, rateLimit: { limit: 2, windowSeconds: 86_400 } },
  };
  const lane: Lane = { name: 'test', authenticate: () => limited };

  test('is counted for all guards of an authenticator together, and announced', async () => {
    const auth = authenticator({ lanes: [lane] });
    const guards = [
      guard({ authenticator: auth }),
      guard({ authenticator: auth, lanes: ['test'] }),
      guard({ authenticator: auth }),
    ];
    const verdicts = [];
    for (const admitted of guards) verdicts.push(await admitted(absent));
    expect(verdicts).toMatchObject([
      { admitted: true, headers: { 'ratelimit-policy': '"default";q=2;w=86400' } },
      { admitted: true },
      { admitted: false, refusal: { status: 429, headers: { 'retry-after': '86400' } } },
    ]);
    expect(await guard({ authenticator: authenticator({ lanes: [lane] }) })(absent)).toMatchObject({ admitted: true });
  });

  test('keeps its refusals out of the limit of the guard', async () => {
    const limiter = limiterOf(5);
    const admitted = guard({ authenticator: authenticator({ lanes: [lane] }), limiter });
    for (let turn = 0; turn < 4; turn++) await admitted(absent);
    expect(await limiter.peek('c_1')).toMatchObject({ allowed: true, remaining: 3 });
  });

  test('is judged before a proof is used up', async () => {
    let used = 0;
    const proving: Lane = {
      name: 'test',
      async authenticate(_, __, admission) {
        if (limited.kind === 'authenticated')
          await admission.beforeUse?.({ principal: limited.principal, headers: {} });
        used++;
        return limited;
      },
    };
    const admitted = guard({ authenticator: authenticator({ lanes: [proving] }) });
    for (let turn = 0; turn < 5; turn++) await admitted(absent);
    expect(used).toBe(2);
  });
});

test('a limiter that fails refuses with 503', async () => {
  const fail = () => {
    throw new Error('The database is down.');
  };
  const verdict = await guardOf(fresh, { limiter: { consume: fail, peek: fail } })(absent);
  expect(verdict).toMatchObject({ admitted: false, refusal: { status: 503 } });
  expect(JSON.stringify(verdict)).not.toContain('database');
});

describe('a guard without an authenticator is refused when it is made', () => {
  const TRPCError = class extends Error {};
  const HttpException = class extends Error {};
  const makers: Readonly<Record<string, (options: never, handler: never) => unknown>> = {
    ...{
      guard,
      expressGuard,
      fastifyGuard,
      fetchGuard,
      h3Guard,
      honoGuard,
      nestGuard,
      nextGuard,
      nodeGuard,
      trpcContext,
    },
  };
  test.each(Object.entries(makers))('%s', (name, maker) => {
    const further = { trpcContext: { TRPCError }, nestGuard: { HttpException } }[name] ?? {};
    const make = (authenticator: unknown) => () =>
      Reflect.apply(maker, undefined, [{ ...further, authenticator }, () => {}]);
    expect(make(undefined)).toThrow(TypeError);
    const told = maker === trpcContext ? name : 'guard';
    expect(make(undefined)).toThrow(`${told}: authenticator is required. Pass the result of authenticator({ lanes }).`);
    expect(make([])).toThrow(`${told}: authenticator must be an Authenticator.`);
    expect(make(authenticator({ lanes: [{ name: 'test', authenticate: () => fresh }] }))).not.toThrow();
  });
});
