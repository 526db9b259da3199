import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { anonymousActor, anonymousMayUse } from './anonymous.ts';
import { authorize } from './authorize.ts';
import { SCOPES } from './scopes.ts';
import { checkedSubject } from './subject.ts';

const tenancy = { tenant: 'acme', workspaces: ['public'], mode: 'live' } as const;
const mint = () =>
  anonymousActor({ tenancy, issuer: 'urn:svc:host', randomBytes: (size) => new Uint8Array(randomBytes(size)) });

describe(
  covers('runs.anonymous.id-host-minted', 'runs.anonymous.id-single-use', 'runs.anonymous.id-not-resolvable'),
  () => {
    test('makes an id of 128 random bits only', () => {
      const ids = new Set(Array.from({ length: 1000 }, () => mint().id));
      expect(ids.size).toBe(1000);
      for (const id of ids) expect(id).toMatch(/^anon_[0-9a-f]{32}$/);
    });

    test('gives two sessions of one surface equal actors, except for their ids', () => {
      const [one, other] = [mint(), mint()];
      const withoutId = (actor: typeof one) => JSON.stringify(actor).replaceAll(actor.id, '');
      expect(withoutId(one)).toBe(withoutId(other));
    });

    test('makes a subject that passes checkedSubject', () => {
      const { id, kind, subject } = mint();
      expect(checkedSubject(subject, { tenant: 'acme', principal: id, principalKind: kind })).toEqual(subject);
    });
  },
);

describe(covers('runs.anonymous.id-not-from-caller'), () => {
  test('rejects a random source with another number of bytes', () => {
    expect(() => anonymousActor({ tenancy, issuer: 'urn:x', randomBytes: () => new Uint8Array(3) })).toThrow(TypeError);
  });
});

describe(covers('runs.anonymous.default-deny', 'runs.anonymous.no-role'), () => {
  test.each(SCOPES)('an anonymous actor may not %s', (scope) => {
    expect(authorize(mint(), scope).allowed).toBe(false);
  });

  test.each([
    [[], 'search', false],
    [['search'], 'search', true],
    [['*'], 'search', false],
    [['search'], 'Search', false],
    [[''], '', false],
  ])('granted %j, it may use %j: %s', (granted, tool, allowed) => {
    expect(anonymousMayUse(granted, tool)).toBe(allowed);
  });
});
