import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authenticator } from './authenticate.ts';
import { AuthError } from './errors.ts';
import type { AuthOutcome, Lane } from './lane.ts';
import type { Principal } from './principal.ts';

const principal: Principal = {
  id: 'p_1',
  kind: undefined,
  credentialId: 'key_1',
  lane: 'a',
  binding: 'bearer',
  tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
  scopes: [],
  subject: { issuer: 'urn:a', subjectId: 'p_1', tenant: 'acme', lane: 'a', kind: 'workload' },
};
const passed: AuthOutcome = { kind: 'authenticated', principal };
const refused: AuthOutcome = { kind: 'refused', error: new AuthError('key_expired', 'Expired.', undefined) };

const lane = (name: string, authenticate: Lane['authenticate']): Lane => ({ name, authenticate });
const request = { headers: { authorization: 'Bearer abc' } };

describe('authenticator', () => {
  test('asks the lanes in their order, and only until one answers', async () => {
    const asked: string[] = [];
    const asking = (name: string, outcome: AuthOutcome | undefined) =>
      lane(name, () => {
        asked.push(name);
        return outcome;
      });
    const lanes = [asking('a', undefined), asking('b', passed), asking('c', refused)];
    expect(await authenticator({ lanes }).authenticate(request)).toBe(passed);
    expect(asked).toEqual(['a', 'b']);
  });

  test('hands the credential to each lane', async () => {
    const seen: unknown[] = [];
    const watching = lane('a', (_request, credential) => {
      seen.push(credential);
      return undefined;
    });
    await authenticator({ lanes: [watching] }).authenticate(request);
    await authenticator({ lanes: [watching] }).authenticate({ headers: {} });
    expect(seen).toEqual([{ scheme: 'bearer', token: 'abc' }, undefined]);
  });

  test('needs lanes, with different names', () => {
    expect(() => authenticator({ lanes: [] })).toThrow(TypeError);
    expect(() => authenticator({ lanes: [lane('a', () => passed), lane('a', () => passed)] })).toThrow(TypeError);
  });

  test('is not changed by what happens to the list that it was given', async () => {
    const lanes = [lane('a', () => refused)];
    const auth = authenticator({ lanes });
    lanes.unshift(lane('b', () => passed));
    expect(await auth.authenticate(request)).toBe(refused);
  });
});

describe(covers('auth.models.no-fall-through'), () => {
  const open = lane('open', () => passed);

  test.each([
    ['refuses', () => refused],
    ['refuses later', async () => refused],
    ['throws', () => fail()],
    ['rejects', async () => fail()],
    ['throws a refusal', () => fail(new AuthError('key_revoked', 'Revoked.', undefined))],
  ] satisfies [string, Lane['authenticate']][])(
    'a lane that %s is the last that is asked',
    async (_case, authenticate) => {
      const outcome = await authenticator({ lanes: [lane('strict', authenticate), open] }).authenticate(request);
      expect(outcome.kind).toBe('refused');
    },
  );

  test('a refusal that a lane throws keeps its code', async () => {
    const revoking = lane('strict', () => fail(new AuthError('key_revoked', 'Revoked.', undefined)));
    const outcome = await authenticator({ lanes: [revoking, open] }).authenticate(request);
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'key_revoked' } });
  });

  test('a malformed header is refused although a lane would take anything', async () => {
    const malformed = { headers: { authorization: 'Bearer a, Bearer b' } };
    expect(await authenticator({ lanes: [open] }).authenticate(malformed)).toMatchObject({
      error: { code: 'unauthenticated', status: 401 },
    });
  });
});

describe(covers('auth.api-key.missing-or-malformed-401'), () => {
  const nobody = authenticator({ lanes: [lane('a', () => undefined)] });

  test('without a credential the challenge names no error', async () => {
    const outcome = await nobody.authenticate({ headers: new Headers() });
    expect(outcome).toMatchObject({
      kind: 'refused',
      error: { code: 'unauthenticated', status: 401, headers: { 'www-authenticate': 'Bearer' } },
    });
  });

  test('a credential of a scheme that no lane knows is refused', async () => {
    const outcome = await nobody.authenticate({ headers: { authorization: 'Basic dXNlcjpwYXNz' } });
    expect(outcome).toMatchObject({ error: { status: 401, headers: { 'www-authenticate': 'Bearer' } } });
  });

  test('a malformed one is told to be invalid', async () => {
    const outcome = await nobody.authenticate({ headers: { authorization: 'Bearer' } });
    expect(outcome).toMatchObject({ error: { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } } });
  });
});

describe('what cannot be judged is refused', () => {
  test.each([
    'true',
    '{}',
    'null',
    '"authenticated"',
    '{"kind":"authenticated"}',
    '{"kind":"authenticated","principal":null}',
    '{"kind":"refused"}',
    '[]',
  ])('a lane that answers %s', async (json) => {
    for (const answer of [JSON.parse(json), Promise.resolve(JSON.parse(json))]) {
      const outcome = await authenticator({ lanes: [lane('a', () => answer)] }).authenticate(request);
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated', rejected: false } });
    }
  });

  test('a request whose headers throw', async () => {
    const hostile = {
      get headers(): never {
        throw new Error('no');
      },
    };
    const outcome = await authenticator({ lanes: [lane('a', () => passed)] }).authenticate(hostile);
    expect(outcome.kind).toBe('refused');
  });

  test('the cause is kept for the host, and not told', async () => {
    const outcome = await authenticator({ lanes: [lane('a', () => fail(new Error('db at 10.0.0.7')))] }).authenticate(
      request,
    );
    expect(outcome).toMatchObject({ error: { cause: { message: 'db at 10.0.0.7' } } });
    if (outcome.kind === 'refused') expect(outcome.error.message).not.toContain('10.0.0.7');
  });
});

test('for any lanes, the first that answers decides, and any failure before it refuses', async () => {
  const behaviour = fc.constantFrom('skip', 'pass', 'refuse', 'throw', 'reject');
  const act: Record<string, Lane['authenticate']> = {
    skip: () => undefined,
    pass: () => passed,
    refuse: () => refused,
    throw: () => fail(),
    reject: async () => fail(),
  };
  await fc.assert(
    fc.asyncProperty(fc.array(behaviour, { minLength: 1, maxLength: 6 }), async (behaviours) => {
      const lanes = behaviours.map((name, index) => lane(`${index}`, act[name] ?? (() => fail())));
      const first = behaviours.find((name) => name !== 'skip');
      const outcome = await authenticator({ lanes }).authenticate(request);
      expect(outcome.kind).toBe(first === 'pass' ? 'authenticated' : 'refused');
    }),
  );
});

function fail(error: Error = new Error('failed')): never {
  throw error;
}
