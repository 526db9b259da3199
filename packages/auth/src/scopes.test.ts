import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areGrantable, grants, isGrantableScope, isScope, SCOPES, scopeVocabulary } from './scopes.ts';

describe(covers('auth.scopes.vocabulary'), () => {
  test('contains the thirteen scopes of the interface', () => {
    expect([...SCOPES].sort()).toEqual([
      'approvals:respond',
      'artifacts:read',
      'audit:read',
      'manifest:read',
      'packs:publish',
      'packs:yank',
      'packs:yank-revert',
      'runs:cancel',
      'runs:create',
      'runs:read',
      'webhooks:manage',
      'workspace:read',
      'workspace:write',
    ]);
  });

  test('contains only grantable scopes', () => {
    expect(SCOPES.every((scope) => isScope(scope) && isGrantableScope(scope))).toBe(true);
  });
});

describe('the grammar', () => {
  test.each(['runs:read', 'content.read', 'deploy:eu-1:start', 'a', 'A_b:9', 'a'.repeat(128)])(
    'accepts %s as a scope',
    (text) => {
      expect(isScope(text)).toBe(true);
      expect(isGrantableScope(text)).toBe(true);
    },
  );

  test.each(['*', 'runs:*', '*:read', 'deploy:*:start', `${'a'.repeat(126)}:*`])(
    'accepts %s as a grant and not as a scope',
    (text) => {
      expect(isScope(text)).toBe(false);
      expect(isGrantableScope(text)).toBe(true);
    },
  );

  test.each([
    '',
    ':',
    'runs:',
    ':read',
    'runs::read',
    'runs:re*',
    'runs:**',
    'runs read',
    'runs:read\n',
    'rüns:read',
    'a"b',
    'a'.repeat(129),
    `${'a'.repeat(127)}:*`,
  ])('rejects %j as a scope and as a grant', (text) => {
    expect(isScope(text)).toBe(false);
    expect(isGrantableScope(text)).toBe(false);
  });
});

describe(covers('auth.scopes.match-segments'), () => {
  test.each([
    ['the same', 'runs:read', 'runs:read', true],
    ['another verb', 'runs:cancel', 'runs:read', false],
    ['another case', 'Runs:Read', 'runs:read', false],
    ['fewer segments', 'runs', 'runs:read', false],
    ['more segments', 'runs:read:all', 'runs:read', false],
    ['a prefix', 'packs:yank', 'packs:yank-revert', false],
    ['white space', ' runs:read', 'runs:read', false],
  ])('%s', (_case, granted, required, covered) => {
    expect(grants([granted], required)).toBe(covered);
  });

  test('needs one covering grant of several, and denies without grants', () => {
    expect(grants(['audit:read', 'runs:read'], 'runs:read')).toBe(true);
    expect(grants([], 'runs:read')).toBe(false);
  });
});

describe(covers('auth.scopes.match-wildcard'), () => {
  test.each([
    ['runs:*', 'runs:read', true],
    ['*:read', 'runs:read', true],
    ['*:*', 'runs:read', true],
    ['*', 'admin', true],
    ['*', 'runs:read', false],
    ['*:*:*', 'runs:read', false],
    ['runs:*', 'runs:read:all', false],
    ['runs:*', 'runs', false],
    ['runs:*', 'Runs:read', false],
    ['deploy:*:start', 'deploy:eu:start', true],
    ['deploy:*:start', 'deploy:eu:stop', false],
  ])('a grant of %s for %s: %s', (granted, required, covered) => {
    expect(grants([granted], required)).toBe(covered);
  });
});

describe(covers('auth.scopes.no-required-wildcard'), () => {
  test.each(['*', 'runs:*', '*:*', '*:read'])('does not cover %s by any grant, not even itself', (required) => {
    expect(grants([required, '*', '*:*', 'runs:*', 'runs:read'], required)).toBe(false);
  });

  test.each(['', 'runs:', 'runs::read', 'runs:read\n'])('does not cover %j, which is not a scope', (required) => {
    expect(grants([required, '*', '*:*'], required)).toBe(false);
  });
});

describe('grants, for any scopes', () => {
  const segment = fc.constantFrom('a', 'b', 'A', '*', 'a-b');
  const scope = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join(':'));

  test('agrees with a regular expression made of the grant', () => {
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 4 }), scope, (granted, required) => {
        const patterns = granted.map((text) => new RegExp(`^${text.replaceAll('*', '[^:]+')}$`));
        const expected = !required.includes('*') && patterns.some((pattern) => pattern.test(required));
        expect(grants(granted, required)).toBe(expected);
      }),
    );
  });

  test('never denies more with more grants', () => {
    fc.assert(
      fc.property(fc.array(scope), scope, scope, (granted, more, required) => {
        if (grants(granted, required)) expect(grants([...granted, more], required)).toBe(true);
      }),
    );
  });
});

describe(covers('auth.scopes.no-shadowing'), () => {
  test("a host's own scopes join those of the protocol", () => {
    expect(scopeVocabulary(['deploy:start', 'content.read'])).toEqual([...SCOPES, 'deploy:start', 'content.read']);
  });

  test.each([
    ['a protocol scope', ['runs:read']],
    ['a protocol scope in another case', ['Runs:READ']],
    ['the same name twice', ['deploy:start', 'deploy:start']],
    ['a wildcard', ['runs:*']],
    ['no scope', ['deploy start']],
  ])('rejects %s', (_case, additional) => {
    expect(() => scopeVocabulary(additional)).toThrow(TypeError);
  });
});

describe('a list of scopes', () => {
  test.each([
    ['no scope', [], true],
    ['a scope', ['runs:read'], true],
    ['a scope and a wildcard', ['runs:read', 'webhooks:*'], true],
    ['a scope and a malformed one', ['runs:read', 'runs:re*'], false],
    ['a scope and a number', ['runs:read', 7], false],
    ['a scope in a list', [['runs:read']], false],
    ['a text', 'runs:read', false],
    ['a list-like object', { every: () => true }, false],
    ['undefined', undefined, false],
  ])('of %s can be granted: %s', (_name, value, expected) => expect(areGrantable(value)).toBe(expected));
});
