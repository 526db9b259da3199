import { describe, expect, test } from 'vitest';

interface Generator {
  rulesOf(requirements: readonly object[]): string;
  withRules(page: string, rules: string): string;
}

const { rulesOf, withRules }: Generator = await import(new URL('./write-interface.mjs', import.meta.url).href);

const rule = (section: string, id: string, level = 'MUST') => ({
  ...{ id, section, level, source: 'interface' },
  sentence: 'A host answers `a|b`.',
});

describe('the rules of the interface', () => {
  test('stand below the headings of their sections, in the order of the list', () => {
    const rules = rulesOf([
      rule('Events: Filters', 'a.b.c'),
      rule('Limits', 'a.b.d', 'SHOULD'),
      rule('Events', 'a.b.e'),
      rule('Events: Filters', 'a.b.f'),
    ]);
    expect(rules.split('\n').filter((line) => line !== '' && !/^\| (Rule|---)|^\|---/.test(line))).toEqual([
      '## Events',
      '| A host answers `a\\|b`. | `a.b.e` | interface |',
      '### Filters',
      '| A host answers `a\\|b`. | `a.b.c` | interface |',
      '| A host answers `a\\|b`. | `a.b.f` | interface |',
      '## Limits',
      '| A host answers `a\\|b`. *(SHOULD)* | `a.b.d` | interface |',
    ]);
  });

  test('replace the earlier ones of the page, and leave its other text', () => {
    const page = 'before\n<!-- rules -->\n\nearlier\n\n<!-- /rules -->\nafter\n';
    expect(withRules(page, '$& now')).toBe('before\n<!-- rules -->\n\n$& now\n\n<!-- /rules -->\nafter\n');
  });
});
