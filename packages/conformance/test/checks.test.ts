import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CHECKS } from '../src/checks/index.ts';
import { markdownOf } from '../src/report/list.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

describe('the checks', () => {
  test('have unique ids of the form <area>.<rule>', () => {
    const ids = CHECKS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9-]+\.[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  test('have a name that is one sentence, and the section of a rule', () => {
    expect(CHECKS.filter(({ name }) => !/^[A-Z`].*[^.]\.$/.test(name)).map(({ name }) => name)).toEqual([]);
    expect(CHECKS.filter(({ rule }) => rule.section === '')).toEqual([]);
  });

  test('name requirements that exist in docs/requirements.json', () => {
    const { requirements } = JSON.parse(read('docs/requirements.json'));
    const known = new Set(requirements.map(({ id }: { id: string }) => id));
    const named = CHECKS.flatMap(({ rule }) => rule.requirement ?? []);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });

  test('take the source of their rule from docs/requirements.json', async () => {
    const { requirements } = JSON.parse(read('docs/requirements.json'));
    const sources = new Map(requirements.map(({ id, source }: { id: string; source: string }) => [id, source]));
    const named = [...new Set(CHECKS.flatMap(({ rule }) => rule.requirement ?? []))].sort();
    const head = read('packages/conformance/src/rule-sources.ts').split('= {', 1)[0];
    const lines = named.map((id) => `  '${id}': '${sources.get(id)}',\n`).join('');
    const text = `${head}= {\n${lines}} as const satisfies Readonly<Record<string, RuleSource>>;\n`;
    await expect(text).toMatchFileSnapshot('../src/rule-sources.ts');
  });

  test('are listed in docs/conformance.md as `svc-conformance --list --markdown` prints them', () => {
    expect(read('docs/conformance.md')).toContain(`<!-- checks -->\n\n${markdownOf(CHECKS)}\n<!-- /checks -->`);
  });
});
