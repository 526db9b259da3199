import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Finding {
  readonly page: string;
  readonly line: number;
  readonly message: string;
}
interface Report {
  readonly counts: Record<'pages' | 'compiled' | 'run' | 'parsed' | 'elsewhere' | 'excepted', number>;
  readonly exceptions: readonly Finding[];
  readonly failures: readonly Finding[];
}
interface Check {
  checkSnippets(root: string, options?: { installed?: string; below?: string; runLimitMs?: number }): Promise<Report>;
}

const { checkSnippets }: Check = await import(new URL('./check-snippets.mjs', import.meta.url).href);
const installed = fileURLToPath(new URL('..', import.meta.url));

const block = (language: string, ...lines: string[]) => [`\`\`\`${language}`, ...lines, '```', ''].join('\n');
const check = (pages: Record<string, string>) => checkSnippets(temporaryTree(pages), { installed });

describe('pages that are right', { timeout: 60_000 }, () => {
  const pages: Record<string, string> = {
    'README.md': [
      '# The package',
      '<!-- an ordinary comment -->',
      block(
        'ts',
        "import { egressPolicy, checkUrl } from '@svc/egress-guard';",
        "console.log(checkUrl('https://127.0.0.1/', egressPolicy()));",
        '// → { ok: false, reason: … }',
        'console.log([1, 2]);',
        '// → [ 1,',
        '//     2 ]',
      ),
      '<!-- prelude\nconst secret: string = "s";\n-->',
      block('ts', 'console.log(secret.length); // → 1'),
      '<!-- continues -->',
      block('ts', 'console.log(secret + secret); // → ss'),
      block('sh', 'npm install @svc/auth', 'echo kept > a.txt'),
      block('sh', 'cat a.txt  # → kept'),
      block('sh', 'npx -p @svc/webhook-verify svc-webhook --help', '# → …svc-webhook COMMAND…'),
      block('json', '{ "a": 1 }'),
      block('jsonc', '{ "a": "// no comment" } // a comment'),
      block('yaml', 'not: looked at'),
    ].join('\n'),
    'docs/start/listen.md': [
      block(
        'ts',
        "import { createServer } from 'node:http';",
        'createServer().listen(8788);',
        'setInterval(() => {}, 1000);',
      ),
      '- in a list:',
      '',
      block('sh', 'test 1 = 1').replace(/^/gm, '  '),
    ].join('\n'),
    'packages/auth/README.md': [
      '<!-- compile only: needs Workers -->',
      block('ts', 'const port: number = JSON.parse("x");'),
      '<!-- not run: needs a host -->',
      block('sh', 'exit 1'),
    ].join('\n'),
    'docs/api.md': ['<!-- run by tools/api.test.ts -->', block('sh', 'exit 1'), block('ts', 'throw 1;')].join('\n'),
    'tools/api.test.ts': '// runs docs/api.md',
    'docs/reference/generated.md': block('ts', 'not TypeScript'),
    'CHANGELOG.md': block('ts', 'not TypeScript'),
    'node_modules/other/README.md': block('sh', 'exit 1'),
  };

  test('pass, and every block is counted', async () => {
    const { counts, exceptions, failures } = await check(pages);
    expect(failures).toEqual([]);
    expect(counts).toEqual({ pages: 4, compiled: 6, run: 8, parsed: 2, elsewhere: 2, excepted: 2 });
    expect(exceptions.map(({ page, message }) => [page, message])).toEqual(
      expect.arrayContaining([
        ['packages/auth/README.md', 'needs Workers'],
        ['packages/auth/README.md', 'needs a host'],
        ['docs/api.md', 'run by tools/api.test.ts'],
      ]),
    );
  });

  test('leave nothing in the folder for temporary files', async () => {
    // Other programs of this machine check pages too.
    const own = temporaryTree();
    vi.stubEnv('TMPDIR', own);
    await check({ 'README.md': block('sh', 'true') });
    vi.unstubAllEnvs();
    expect(readdirSync(own).filter((name) => name.startsWith('svc-snippets-'))).toEqual([]);
  });

  test('are looked at alone when their path is given', async () => {
    const tree = temporaryTree({ 'README.md': block('sh', 'exit 1'), 'docs/a.md': block('sh', 'exit 0') });
    const { counts, failures } = await checkSnippets(tree, { installed, below: 'docs/' });
    expect({ counts, failures }).toMatchObject({ counts: { pages: 1, run: 1 }, failures: [] });
  });
});

describe('a guide', { timeout: 60_000 }, () => {
  test('is one program, in the order of its visible blocks', async () => {
    const text = [
      '<details>\n<summary>The program around it</summary>\n',
      block('ts', "const secret: string = 's';"),
      '</details>\n',
      block('ts', 'console.log(secret.length); // → 1'),
      'Elsewhere:\n',
      block('ts', "console.log(secret + 't'); // → st"),
    ].join('\n');
    const { counts, failures } = await check({ 'docs/guides/a.md': text });
    expect({ counts, failures }).toMatchObject({ counts: { compiled: 3, run: 3 }, failures: [] });
  });

  test('that hides code is refused', async () => {
    const text = `# A\n\n<!-- prelude\nconst secret: string = 's';\n-->\n\n${block('ts', 'console.log(secret); // → s')}`;
    const { failures } = await check({ 'docs/guides/a.md': text, 'docs/other.md': text });
    expect(failures).toEqual([
      { page: 'docs/guides/a.md', line: 3, message: expect.stringContaining('no reader of a guide sees') },
    ]);
  });

  test('whose blocks do not compile when they are pasted one after another is refused', async () => {
    const text = [block('ts', 'const one = 1;'), block('ts', 'const one = 2;')].join('\n');
    const { failures } = await check({ 'docs/guides/a.md': text, 'docs/other.md': text });
    expect(failures).toHaveLength(2);
    expect(failures).toEqual(
      [2, 6].map((line) => ({
        page: 'docs/guides/a.md',
        line,
        message: expect.stringContaining("redeclare block-scoped variable 'one'"),
      })),
    );
  });
});

test('a page with PostgreSQL has an empty database', { timeout: 60_000 }, async () => {
  const text = [
    '<!-- with PostgreSQL -->\n',
    block(
      'ts',
      "import pg from 'pg';",
      "const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '' });",
      'const { rows } = await pool.query(`SELECT count(*)::int AS tables',
      '  FROM pg_tables WHERE schemaname = current_schema()`);',
      'console.log(rows); // → [ { tables: 0 } ]',
      'await pool.end();',
    ),
  ].join('\n');
  const { counts, failures } = await check({ 'docs/a.md': text });
  expect({ counts, failures }).toMatchObject({ counts: { run: 1 }, failures: [] });
});

test('a program that does not end is ended, with everything that it started', { timeout: 60_000 }, async () => {
  const tree = temporaryTree({ 'README.md': block('sh', 'sleep 1000 &', 'echo started', 'sleep 1000') });
  const { failures } = await checkSnippets(tree, { installed, runLimitMs: 1000 });
  expect(failures).toEqual([{ page: 'README.md', line: 2, message: 'the block did not end within 1 s\nstarted' }]);
});

describe('a page that is wrong fails, with the line of the page', { timeout: 60_000 }, () => {
  const wrong: Record<string, { readonly text: string; readonly line: number; readonly message: string }> = {
    'a name that is not declared': {
      text: `text\n\n${block('ts', '', 'console.log(secret);')}`,
      line: 5,
      message: "Cannot find name 'secret'",
    },
    'a wrong type': {
      text: block('ts', "import { Webhook } from '@svc/webhook-verify';", 'new Webhook(42);'),
      line: 3,
      message: 'error TS',
    },
    'an entry that is not exported': {
      text: block('ts', "import '@svc/auth/nothing';"),
      line: 2,
      message: "of '@svc/auth/nothing'",
    },
    'a text that cannot be parsed': { text: block('ts', 'const a = ;'), line: 2, message: 'error TS1' },
    'a program that throws': {
      text: block('ts', '', 'throw new TypeError("no such thing");'),
      line: 3,
      message: 'TypeError: no such thing',
    },
    'a promise that is rejected': {
      text: block('ts', 'Promise.reject(new Error("rejected"));'),
      line: 2,
      message: 'Error: rejected',
    },
    'a prelude that throws': {
      text: `<!-- prelude\nthrow new Error("hidden");\n-->\n${block('ts', 'console.log(1);')}`,
      line: 2,
      message: 'Error: hidden',
    },
    'a command that fails': { text: block('sh', 'true', 'false', 'true'), line: 2, message: 'exit code 1' },
    'a command that is unknown': { text: block('sh', 'true', 'no-such-command'), line: 3, message: 'exit code 127' },
    'a package that is unknown': {
      text: block('sh', 'npm install @svc/nothing'),
      line: 2,
      message: 'no package @svc/nothing',
    },
    'a line that is not printed': {
      text: block('ts', 'console.log(1); // → 1', 'console.log(12); // → 1'),
      line: 3,
      message: 'does not print "1"',
    },
    'a number that begins as shown': {
      text: block('sh', 'echo 2000 # → 200'),
      line: 2,
      message: 'does not print "200"',
    },
    'JSON with a comment': { text: block('json', '{} // none'), line: 2, message: 'JSON' },
    'a reason that is missing': {
      text: `<!-- not run -->\n${block('sh', 'true')}`,
      line: 1,
      message: 'needs a reason',
    },
    'a test that is missing': { text: '<!-- run by a.test.ts -->', line: 1, message: 'is missing or does not name it' },
    'a line that is too long for the site': {
      text: block('ts', '', `console.log('${'x'.repeat(80)}');`, `// → ${'x'.repeat(80)}`),
      line: 3,
      message: 'has 96 characters. Write at most 80',
    },
    'a block that is not closed': { text: '```ts\n', line: 1, message: 'is not closed' },
  };
  const pages = Object.entries(wrong).map(([title, { text }]) => [`docs/${title}.md`, text]);
  // One compilation for all.
  let checking: Promise<Report> | undefined;

  test.each(Object.entries(wrong))('%s', async (title, { line, message }) => {
    checking ??= check(Object.fromEntries(pages));
    const { failures } = await checking;
    const own = failures.filter(({ page }) => page === `docs/${title}.md`);
    expect(own).toEqual([{ page: `docs/${title}.md`, line, message: expect.stringContaining(message) }]);
  });
});
