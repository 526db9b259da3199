import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { covers } from './covers.ts';

/** The types of the script, which is plain JavaScript. */
interface Check {
  checkRequirements(document: unknown, sources: readonly Source[]): Outcome;
  citationsIn(text: string): { id: string; line: number }[];
  readTree(root: string): { document: unknown; sources: Source[] };
}
interface Source {
  path: string;
  text: string;
}
interface Outcome {
  problems: string[];
  packages: { name: string; cited: number; total: number }[];
  uncited: string[];
}

const script = new URL('./check-requirements.mjs', import.meta.url);
const { checkRequirements, citationsIn, readTree }: Check = await import(script.href);

const rule = {
  id: 'webhooks.verify.freshness',
  section: 'Endpoints: Subscriber verification recipe',
  source: 'interface',
  level: 'MUST',
  sentence: 'A stale delivery is rejected.',
  package: 'webhook-verify',
};

// The script scans this file too, so fixtures are composed: a literal call would count as a citation.
const call = (args: string) => `describe(${'covers'}(${args}), () => {});`;
const source = (args: string): Source => ({ path: 'packages/auth/src/key.test.ts', text: call(args) });

describe('the requirements of this repository', () => {
  const { document, sources } = readTree(fileURLToPath(new URL('..', import.meta.url)));
  const outcome = checkRequirements(document, sources);

  test('are well formed, and every citation names one of them', () => {
    expect(outcome.problems).toEqual([]);
  });

  test('are counted by package', () => {
    const total = outcome.packages.reduce((sum, { total }) => sum + total, 0);
    const cited = outcome.packages.reduce((sum, { cited }) => sum + cited, 0);
    expect(outcome.packages.every(({ total }) => total > 0)).toBe(true);
    expect(cited + outcome.uncited.length).toBe(total);
    console.log(`requirements: ${outcome.uncited.length} of ${total} are uncited`);
  });
});

describe('a list is rejected', () => {
  test.each([
    ['with an id twice', [rule, rule], 'appears twice'],
    ['with an unknown source', [{ ...rule, source: 'hearsay' }], 'source is not one of interface'],
    ['with a package that does not exist', [{ ...rule, package: 'common' }], "unknown package 'common'"],
    ['with an id of two segments', [{ ...rule, id: 'webhooks.freshness' }], 'three lower-kebab segments'],
    ['with a capital in an id', [{ ...rule, id: 'webhooks.verify.Fresh' }], 'three lower-kebab segments'],
    ['with a level of its own', [{ ...rule, level: 'MAY' }], 'level is not one of'],
    ['with an empty sentence', [{ ...rule, sentence: ' ' }], 'sentence is empty'],
    ['without a section', [{ ...rule, section: undefined }], 'section is empty'],
    ['with a field of its own', [{ ...rule, note: '' }], "unknown field 'note'"],
    ['that holds something else', [rule, null], 'is not an object'],
    ['that is empty', [], 'no requirements'],
  ])('%s', (_why, requirements, message) => {
    const { problems } = checkRequirements({ requirements }, []);
    expect(problems).toEqual([expect.stringContaining(message)]);
  });
});

describe('citations', () => {
  test('of an unknown id are a problem that names the line', () => {
    const { problems } = checkRequirements({ requirements: [rule] }, [source(`'webhooks.verify.fresh'`)]);
    expect(problems).toEqual(["packages/auth/src/key.test.ts:1 cites the unknown id 'webhooks.verify.fresh'"]);
  });

  test('of a known id count', () => {
    const other = { ...rule, id: 'webhooks.verify.hmac' };
    const outcome = checkRequirements({ requirements: [rule, other] }, [source(`'${rule.id}'`)]);
    expect(outcome.problems).toEqual([]);
    expect(outcome.packages).toContainEqual({ name: 'webhook-verify', cited: 1, total: 2 });
    expect(outcome.uncited).toEqual([other.id]);
  });

  test('are found over several lines, in any quotes', () => {
    const text = `\n${call(`\n  'a.b.c',\n  "d.e.f",\n  \`g.h.i\`,\n`)}`;
    expect(citationsIn(text)).toEqual([
      { id: 'a.b.c', line: 3 },
      { id: 'd.e.f', line: 4 },
      { id: 'g.h.i', line: 5 },
    ]);
  });

  test('are not found in other calls', () => {
    expect(citationsIn(`discovers('a.b.c'); test('d.e.f');`)).toEqual([]);
  });
});

describe('the script', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'requirements-'));
    for (const directory of [
      'docs',
      'examples',
      'tools',
      'soak',
      'load',
      'packages/auth/src',
      'packages/auth/test/node_modules',
    ]) {
      mkdirSync(join(root, directory), { recursive: true });
    }
    cpSync(script, join(root, 'tools/check-requirements.mjs'));
    writeFileSync(join(root, 'docs/requirements.json'), JSON.stringify({ requirements: [rule] }));
    writeFileSync(join(root, 'packages/auth/test/node_modules/foreign.ts'), call(`'not.looked.at'`));
  });
  afterAll(() => rmSync(root, { recursive: true }));
  const run = (...args: string[]) =>
    spawnSync(execPath, [join(root, 'tools/check-requirements.mjs'), ...args], { encoding: 'utf8' });

  test('succeeds on a tree without an unknown id, and lists uncited rules with --uncited', () => {
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('webhook-verify   0/1 cited') });
    expect(run('--uncited').stdout).toContain(`\n${rule.id}\n`);
  });

  test('fails on a tree with one', () => {
    writeFileSync(join(root, 'packages/auth/src/key.test.ts'), call(`'auth.no.such'`));
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('auth.no.such') });
  });
});

describe('a title', () => {
  const title = covers;

  test('is the id with its sentence, for each id', () => {
    const both = title('webhooks.verify.freshness', 'webhooks.verify.hmac');
    expect(both).toMatch(/^webhooks\.verify\.freshness: .+\. \| webhooks\.verify\.hmac: .+\.$/);
  });

  test('of an unknown id is an error that names the closest ones', () => {
    expect(() => title('webhooks.verify.freshnes')).toThrow(
      /'webhooks\.verify\.freshnes' is not in .+\. The closest ids are webhooks\.verify\.freshness,/,
    );
  });
});
