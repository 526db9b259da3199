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
  test('asks the lanes in order until one answers', async () => {
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

  test('passes the credential to each lane', async () => {
    const seen: unknown[] = [];
    const watching = lane('a', (_request, credential) => {
      seen.push(credential);
      return undefined;
    });
    await authenticator({ lanes: [watching] }).authenticate(request);
    await authenticator({ lanes: [watching] }).authenticate({ headers: {} });
    expect(seen).toEqual([{ scheme: 'bearer', token: 'abc' }, undefined]);
  });

  test('rejects an empty list of lanes and repeated names', () => {
    expect(() => authenticator({ lanes: [] })).toThrow(TypeError);
    expect(() => authenticator({ lanes: [lane('a', () => passed), lane('a', () => passed)] })).toThrow(TypeError);
  });

  test('copies the given list of lanes', async () => {
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

  test('keeps the code of a refusal that a lane throws', async () => {
    const revoking = lane('strict', () => fail(new AuthError('key_revoked', 'Revoked.', undefined)));
    const outcome = await authenticator({ lanes: [revoking, open] }).authenticate(request);
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'key_revoked' } });
  });

  test('refuses a malformed header before any lane is asked', async () => {
    const malformed = { headers: { authorization: 'Bearer a, Bearer b' } };
    expect(await authenticator({ lanes: [open] }).authenticate(malformed)).toMatchObject({
      error: { code: 'unauthenticated', status: 401 },
    });
  });
});

describe(covers('auth.api-key.missing-or-malformed-401'), () => {
  const nobody = authenticator({ lanes: [lane('a', () => undefined)] });

  test('sends a challenge without an error when there is no credential', async () => {
    const outcome = await nobody.authenticate({ headers: new Headers() });
    expect(outcome).toMatchObject({
      kind: 'refused',
      error: { code: 'unauthenticated', status: 401, headers: { 'www-authenticate': 'Bearer' } },
    });
  });

  test('refuses a credential of a scheme that no lane accepts', async () => {
    const outcome = await nobody.authenticate({ headers: { authorization: 'Basic dXNlcjpwYXNz' } });
    expect(outcome).toMatchObject({ error: { status: 401, headers: { 'www-authenticate': 'Bearer' } } });
  });

  test('sends the error invalid_token for a malformed credential', async () => {
    const outcome = await nobody.authenticate({ headers: { authorization: 'Bearer' } });
    expect(outcome).toMatchObject({ error: { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } } });
  });
});

describe('errors while judging are refusals', () => {
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
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'service_unavailable', fault: 'host' } });
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

  test('keeps the cause for the host and out of the message', async () => {
    const outcome = await authenticator({ lanes: [lane('a', () => fail(new Error('db at 10.0.0.7')))] }).authenticate(
      request,
    );
    expect(outcome).toMatchObject({ error: { cause: { message: 'db at 10.0.0.7' } } });
    if (outcome.kind === 'refused') expect(outcome.error.message).not.toContain('10.0.0.7');
  });
});

test('lets the first lane that answers decide, and refuses on a failure before it, for any lanes', async () => {
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

test.each([undefined, {}, [undefined], [{ name: 'mine' }]])('authenticator refuses the lanes %o', (lanes) => {
  const make = () => Reflect.apply(authenticator, undefined, [{ lanes }]);
  expect(make).toThrow(TypeError);
  expect(make).toThrow('authenticator: lanes must be a list of lanes. Pass one such as [apiKeyLane(');
});
