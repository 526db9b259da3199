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
  checkedIn(text: string): { id: string; line: number }[];
  readTree(root: string): { document: unknown; sources: Source[] };
}
interface Source {
  path: string;
  text: string;
}
interface Outcome {
  problems: string[];
  packages: { name: string; cited: number; observed: number; total: number }[];
  uncited: string[];
}

const script = new URL('./check-requirements.mjs', import.meta.url);
const { checkRequirements, citationsIn, checkedIn, readTree }: Check = await import(script.href);

const rule = {
  id: 'webhooks.verify.freshness',
  section: 'Endpoints: Subscriber verification recipe',
  source: 'interface',
  level: 'MUST',
  sentence: 'A stale delivery is rejected.',
  package: 'webhook-verify',
  unobserved: { reason: 'not observable over HTTP', because: 'The rule is about the clock of a receiver.' },
};

// The script scans this file too, so fixtures are composed: a literal call would count as a citation.
const call = (args: string) => `describe(${'covers'}(${args}), () => {});`;
const source = (args: string, path = 'packages/auth/src/key.test.ts'): Source => ({ path, text: call(args) });

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
    ['with an unobserved that is a text', [{ ...rule, unobserved: 'no' }], 'unobserved is not an object'],
    ...Object.entries<[object, string]>({
      'another reason': [{ reason: 'too slow to test' }, "unobserved.reason is not 'not observable over HTTP'"],
      'a second reason': [{ also: 'slow' }, "unobserved has the unknown field 'also'"],
      'no sentence': [{ because: undefined }, 'unobserved.because is not one sentence'],
      'a heading for a sentence': [{ because: 'A clock' }, 'unobserved.because is not one sentence'],
      'two sentences': [{ because: 'A clock. Another.' }, 'unobserved.because is not one sentence'],
    }).map(([why, [changes, message]]): [string, object[], string] => [
      `with an unobserved of ${why}`,
      [{ ...rule, unobserved: { ...rule.unobserved, ...changes } }],
      message,
    ]),
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
    expect(outcome.packages).toContainEqual({ name: 'webhook-verify', cited: 1, observed: 0, total: 2 });
    expect(outcome.uncited).toEqual([other.id]);
  });

  const observable = { ...rule, unobserved: undefined };
  const host = 'examples/reference-host/test/host.test.ts';
  const check = {
    path: 'packages/conformance/src/checks/webhooks.ts',
    text: `area('x', {}, [{\n  rule: [SECTION, '${rule.id}'],\n}]);`,
  };

  test('of a test that sees no HTTP do not suffice for a rule without a reason', () => {
    const { problems } = checkRequirements({ requirements: [observable] }, [source(`'${rule.id}'`)]);
    expect(problems).toEqual([
      expect.stringMatching(/^webhooks\.verify\.freshness: no black-box test cites it\. Cite it/),
    ]);
  });

  test.each([
    ['a test of the reference host', source(`'${rule.id}'`, host)],
    ['a file beside it', source(`'${rule.id}'`, 'examples/reference-host/test/conformance/hosts.ts')],
    ['a check of the conformance suite', check],
  ])('of %s suffice, and contradict a reason', (_title, { path, text }) => {
    const outcome = checkRequirements({ requirements: [observable] }, [{ path, text }]);
    expect(outcome.problems).toEqual([]);
    expect(outcome.packages).toContainEqual({ name: 'webhook-verify', cited: 1, observed: 1, total: 1 });
    const { problems } = checkRequirements({ requirements: [rule] }, [{ path, text }]);
    expect(problems).toEqual([expect.stringContaining(`has an 'unobserved', and ${path}:`)]);
  });

  test('of checks are found in one line, over several lines, and beside a section in quotes', () => {
    const text = "rule: [KEYS, 'a.b.c'],\nrule: [\n  'Keys',\n  'd.e.f',\n],\nrule: 'Keys',\nrule: KEYS";
    expect(checkedIn(text)).toEqual([
      { id: 'a.b.c', line: 1 },
      { id: 'd.e.f', line: 4 },
    ]);
  });

  test('of a check that name an unknown id are a problem that names the line', () => {
    const { problems } = checkRequirements({ requirements: [rule] }, [{ ...check, text: "rule: [KEYS, 'a.b.c']" }]);
    expect(problems).toEqual([`${check.path}:1 cites the unknown id 'a.b.c'`]);
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
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('webhook-verify   0/1 cited, 0 by') });
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
