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
    test('an id is 128 random bits and nothing else', () => {
      const ids = new Set(Array.from({ length: 1000 }, () => mint().id));
      expect(ids.size).toBe(1000);
      for (const id of ids) expect(id).toMatch(/^anon_[0-9a-f]{32}$/);
    });

    test('nothing else of the actor tells two sessions of one surface apart or together', () => {
      const [one, other] = [mint(), mint()];
      const withoutId = (actor: typeof one) => JSON.stringify(actor).replaceAll(actor.id, '');
      expect(withoutId(one)).toBe(withoutId(other));
    });

    test('its subject can stand in a run record', () => {
      const { id, kind, subject } = mint();
      expect(checkedSubject(subject, { tenant: 'acme', principal: id, principalKind: kind })).toEqual(subject);
    });
  },
);

describe(covers('runs.anonymous.id-not-from-caller'), () => {
  test('it depends on the random source alone, which must give what was asked for', () => {
    expect(() => anonymousActor({ tenancy, issuer: 'urn:x', randomBytes: () => new Uint8Array(3) })).toThrow(TypeError);
  });
});

describe(covers('runs.anonymous.default-deny', 'runs.anonymous.no-role'), () => {
  test.each(SCOPES)('it may not %s', (scope) => {
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
