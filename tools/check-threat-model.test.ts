import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

interface Check {
  checkThreatModel(
    text: string,
    project: { known: ReadonlySet<string>; uncited: ReadonlySet<string>; parts: readonly string[] },
  ): string[];
  checkTree(root: string): string[];
}

const { checkThreatModel, checkTree }: Check = await import(new URL('./check-threat-model.mjs', import.meta.url).href);

const project = { known: new Set(['a.b.held', 'a.b.bare']), uncited: new Set(['a.b.bare']), parts: ['@svc/auth'] };
const model = (rows: string, heading = '`@svc/auth`') =>
  `## ${heading}\n\n| Attack | Answer | Held by |\n|---|---|---|\n${rows}\n`;
const advisories = (rows: string) =>
  `${model('| x | y | `a.b.held` |')}\n| Advisory | Cause | Held by |\n|---|---|---|\n${rows}\n`;

describe('the check of the threat model', () => {
  test('accepts the model of the project', () => {
    expect(checkTree(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
  });

  test.each([
    ['a held threat', model('| x | y | `a.b.held` |')],
    ['a threat that is not covered', model('| x | y | Not covered: the machine is trusted. |')],
    ['an advisory', advisories('| CVE-2025-59436, GHSA-8p33-q827-ghj5 | y | `a.b.held` |')],
    ['another table', `${model('| x | y | `a.b.held` |')}\n| Word | Meaning |\n|---|---|\n| x | \`no.such.id\` |\n`],
  ])('accepts %s', (_name, text) => expect(checkThreatModel(text, project)).toEqual([]));

  test.each([
    ['an unknown id', model('| x | y | `a.b.other` |'), `line 5: 'a.b.other' is not in docs/requirements.json.`],
    ['an id that no test cites', model('| x | y | `a.b.held`, `a.b.bare` |'), `line 5: no test cites 'a.b.bare'.`],
    ['a threat without a rule', model('| x | y | a firewall |'), 'line 5: names no rule.'],
    ['a gap without a reason', model('| x | y | Not covered |'), 'line 5: names no rule.'],
    ['a missing section', model('| x | y | `a.b.held` |', 'Others'), 'There is no section "## @svc/auth".'],
    ['a model without a table', '## @svc/auth\n', 'There is no table'],
    ['a malformed advisory', advisories('| CVE-25-1 | y | `a.b.held` |'), `'CVE-25-1' is not the id of an advisory.`],
    [
      'an advisory that is named twice',
      advisories('| CVE-2025-59436 | y | `a.b.held` |\n| CVE-2025-59436 | y | `a.b.held` |'),
      'is named twice.',
    ],
  ])('refuses %s', (_name, text, problem) => {
    const problems = checkThreatModel(text, project);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });
});
