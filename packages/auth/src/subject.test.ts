import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthError } from './errors.ts';
import { checkedSubject, isSameSubject, type Subject } from './subject.ts';

const subject: Subject = { issuer: 'urn:svc:api-key', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' };
const owner = { tenant: 'acme', principal: 'p_1', principalKind: 'user' } as const;

/** A subject with that many actors behind it. */
function chainOf(actors: number): Subject {
  return actors === 0 ? subject : { ...subject, actor: chainOf(actors - 1) };
}

test('returns a subject that agrees with its owner unchanged', () => {
  expect(checkedSubject(subject, owner)).toEqual(subject);
  expect(checkedSubject(chainOf(2), owner)).toEqual(chainOf(2));
});

test('drops fields that the record does not define', () => {
  const verbose = { ...subject, claims: { email: 'ada@example.com' }, actor: { ...subject, token: 'eyJ' } };
  expect(checkedSubject(verbose, owner)).toEqual({ ...subject, actor: subject });
});

describe(covers('runs.subject.id-grammar'), () => {
  test.each(['ada@example.com', 'Ada Lovelace', '', 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln', '-----BEGIN'])(
    '%j',
    (subjectId) => {
      expect(() => checkedSubject({ ...subject, subjectId }, { tenant: 'acme' })).toThrow(/subject\.subjectId/);
      const delegated = { ...subject, actor: { ...subject, subjectId } };
      expect(() => checkedSubject(delegated, owner)).toThrow(/subject\.actor\.subjectId/);
    },
  );
});

describe(covers('runs.subject.tenant-equals-owner'), () => {
  test('rejects the tenant of another owner', () => {
    expect(() => checkedSubject(subject, { ...owner, tenant: 'other' })).toThrow(/subject\.tenant/);
  });
});

describe(covers('runs.subject.id-equals-principal'), () => {
  test('rejects another principal, and compares none when the owner has none', () => {
    expect(() => checkedSubject(subject, { ...owner, principal: 'p_2' })).toThrow(/subject\.subjectId/);
    expect(checkedSubject(subject, { tenant: 'acme' })).toEqual(subject);
  });
});

describe(covers('runs.subject.kind-equals-principal-kind', 'runs.subject.workload-kind'), () => {
  test.each([
    ['user', 'user', true],
    ['agent', 'agent', true],
    ['anonymous', 'anonymous', true],
    ['workload', undefined, true],
    ['user', undefined, true],
    ['user', 'agent', false],
    ['workload', 'user', false],
    ['workload', 'agent', false],
  ] as const)('a subject of kind %s and an owner of kind %s agree: %s', (kind, principalKind, agree) => {
    const check = () => checkedSubject({ ...subject, kind }, { ...owner, principalKind });
    if (agree) expect(check().kind).toBe(kind);
    else expect(check).toThrow(/subject\.kind/);
  });
});

describe(covers('runs.subject.key-class-required'), () => {
  test.each(['saml', 'scim'])('requires a keyClass in the lane %s', (lane) => {
    expect(() => checkedSubject({ ...subject, lane }, owner)).toThrow(/subject\.keyClass/);
    expect(() => checkedSubject({ ...subject, lane, keyClass: '' }, owner)).toThrow(/subject\.keyClass/);
    expect(checkedSubject({ ...subject, lane, keyClass: 'opaque-idp' }, owner).keyClass).toBe('opaque-idp');
  });
});

describe(covers('runs.subject.actor-depth'), () => {
  test.each([0, 1, 4])('accepts a chain of %i actors unchanged', (actors) => {
    expect(checkedSubject(chainOf(actors), owner)).toEqual(chainOf(actors));
  });

  test.each([5, 6, 100])('rejects a chain of %i actors', (actors) => {
    expect(() => checkedSubject(chainOf(actors), owner)).toThrow(
      expect.objectContaining({ code: 'run_forbidden', status: 403 }),
    );
  });

  test('rejects a circular chain', () => {
    const cycle: { -readonly [Key in keyof Subject]: Subject[Key] } = { ...subject };
    cycle.actor = cycle;
    expect(() => checkedSubject(cycle, owner)).toThrow(AuthError);
  });
});

test.each([
  ['issuer', 'urn:a b'],
  ['issuer', ''],
  ['issuer', undefined],
  ['subjectId', undefined],
  ['tenant', undefined],
  ['lane', undefined],
  ['lane', null],
  ['kind', undefined],
  ['keyClass', 'ada@example.com'],
  ['keyClass', 7],
  ['actor', null],
  ['actor', 'p_2'],
  ['tenant', 'Acme Inc'],
  ['lane', 'API key'],
  ['kind', 'robot'],
])('rejects a subject whose %s is %j', (field, value) => {
  expect(() => checkedSubject({ ...subject, [field]: value }, { tenant: 'acme' })).toThrow(`subject.${field}`);
});

describe('any record', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('p_1', 'acme', 'saml', 'api-key'));
  const kind = fc.constantFrom('user', 'agent', 'anonymous', 'workload');
  const record = fc.record({ issuer: text, subjectId: text, tenant: text, lane: text, kind });

  test('is rejected with a TypeError, or agrees with its owner and is opaque', () => {
    fc.assert(
      fc.property(record, (given) => {
        try {
          const checked = checkedSubject(given, owner);
          expect(checked).toEqual({ ...given, tenant: 'acme', subjectId: 'p_1', kind: 'user' });
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});

test(covers('runs.subject.distinct-by-issuer'), () => {
  expect(isSameSubject(subject, { ...subject })).toBe(true);
  expect(isSameSubject(subject, { ...subject, issuer: 'https://other.example.com' })).toBe(false);
  expect(isSameSubject(subject, { ...subject, tenant: 'globex' })).toBe(false);
});

test(covers('runs.subject.key-class-equals-advertised'), () => {
  const linked = { ...subject, lane: 'saml', keyClass: 'opaque-idp' };
  expect(checkedSubject(linked, { tenant: 'acme' }, { linkKey: 'opaque-idp' })).toEqual(linked);
  expect(() => checkedSubject(linked, { tenant: 'acme' }, { linkKey: 'oid' })).toThrow('subject.keyClass');
});
