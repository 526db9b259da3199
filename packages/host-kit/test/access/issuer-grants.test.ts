import { storedAccess } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IssuerGrant } from '../../src/access/access-model.ts';
import { IssuerGrants } from '../../src/access/issuer-grants.ts';

const ISSUER = 'https://token.example';
const binding = { issuer: ISSUER, subject: 'repo:acme/a', principal: 'p_1', tenant: 'acme' } as const;
const bound = { ...binding, workspaces: 'all', scopes: [], mode: 'live' } as const;
const grant = (tenant: string, subjectPrefix?: string): IssuerGrant => ({ tenant, issuer: ISSUER, subjectPrefix });

test.each<[string, readonly IssuerGrant[], readonly (typeof bound)[], string]>([
  ['one issuer twice', [grant('acme'), grant('globex')], [], 'grants[1] must not share a subject'],
  ['a prefix of another one', [grant('a', 'repo:'), grant('b', 'repo:b/')], [], 'grants[1] must not share a subject'],
  ['one prefix twice', [grant('a', 'a:'), grant('a', 'a:')], [], 'grants[1] must not share a subject'],
  ['a prefix within a name', [grant('a', 'repo:acme')], [], 'grants[0].subjectPrefix must not end within a name'],
  ['a prefix within a name of letters', [grant('a', 'repo:é')], [], 'must not end within a name'],
  ['no issuer', [{ tenant: 'a', issuer: '' }], [], 'grants[0].issuer must not be empty'],
  ['a binding of another tenant', [grant('globex', 'repo:acme/')], [bound], 'bindings[0].subject must not be granted'],
  ['a binding twice', [], [bound, { ...bound }], 'bindings[1].subject must be bound once'],
])('a configuration is refused: %s', (_title, grants, bindings, problem) => {
  const make = () => storedAccess({ store: memoryStore(), workloads: { grants, bindings } });
  expect(make).toThrow(TypeError);
  expect(make).toThrow(problem);
});

test('an identity is of one tenant, that of the grant whose prefix begins its subject', () => {
  const segment = fc.stringMatching(/^[a-z]{1,2}$/);
  const prefix = fc.array(segment, { minLength: 1, maxLength: 3 }).map((names) => `${names.join('/')}/`);
  const subject = fc.tuple(prefix, fc.string({ maxLength: 3 })).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(prefix, { maxLength: 12 }), fc.array(subject, { maxLength: 12 }), (prefixes, subjects) => {
      const disjoint = prefixes.filter(
        (one, index) =>
          !prefixes.slice(0, index).some((other) => one.startsWith(other)) &&
          !prefixes.some((other, at) => at !== index && other !== one && one.startsWith(other)),
      );
      const given = disjoint.map((each) => grant(`of ${each}`, each));
      const grants = new IssuerGrants({ grants: given, bindings: [] });
      for (const each of [...subjects, ...disjoint, '', 'z']) {
        const expected = given.find(({ subjectPrefix = '' }) => each.startsWith(subjectPrefix))?.tenant;
        expect(grants.granteeOf({ issuer: ISSUER, subject: each })).toBe(expected);
        expect(grants.granteeOf({ issuer: 'https://other.example', subject: each })).toBeUndefined();
      }
    }),
  );
});

test('a grant without a prefix covers every subject', () => {
  const grants = new IssuerGrants({ grants: [grant('acme')], bindings: [bound] });
  expect(grants.granteeOf({ issuer: ISSUER, subject: 'anything' })).toBe('acme');
  expect(grants.tenantOf(binding)).toBe('acme');
});
