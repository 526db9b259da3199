import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Tarball {
  pack(root: string, folder: string, into: string): Promise<unknown>;
}
interface Walk {
  walkThrough(
    page: string,
    from: { checkout: string; tarballs: string; section?: string; portsTaken?: boolean },
  ): Promise<void>;
}

const { pack }: Tarball = await import(new URL('./package-tarball.mjs', import.meta.url).href);
const { walkThrough }: Walk = await import(new URL('./walk-through.mjs', import.meta.url).href);

const RUN_HERE = '<!-- run by tools/start-pages.test.ts -->';
const checkout = fileURLToPath(new URL('..', import.meta.url));
/** The pages that start in an empty folder: those below `start`, and the guides that say so. */
const pages = [
  ...readdirSync(join(checkout, 'docs/start')).map((name) => `docs/start/${name}`),
  ...readdirSync(join(checkout, 'docs/guides'))
    .map((name) => `docs/guides/${name}`)
    .filter((page) => page.endsWith('.md') && readFileSync(join(checkout, page), 'utf8').includes(RUN_HERE)),
];

// A test and not a check, because it proves behaviour. All pages together take 20 to 40 s on a busy machine.
describe('a start page leads from a blank folder, with the packed packages, to what it shows, and its servers name a taken port', {
  timeout: 180_000,
}, () => {
  const tarballs = mkdtempSync(join(tmpdir(), 'svc-tarballs-'));

  beforeAll(async () => {
    const folders = readdirSync(join(checkout, 'packages')).map((name) => join('packages', name));
    await Promise.all(folders.map((folder) => pack(checkout, folder, tarballs)));
  }, 180_000);
  afterAll(() => rmSync(tarballs, { recursive: true, force: true }));

  test.concurrent.each(pages)('%s', async (page) => {
    await walkThrough(join(checkout, page), { checkout, tarballs, portsTaken: true });
  });

  test.concurrent.each([
    { page: 'packages/auth/README.md', section: 'Quick start', most: 6, files: 0 },
    { page: 'docs/scale.md', section: 'Stage 0: one file', most: 8, files: 1 },
  ])('$section of $page, in at most $most commands', async ({ page, section, most, files }) => {
    const path = join(checkout, page);
    await walkThrough(path, { checkout, tarballs, section });
    const [, rest = ''] = readFileSync(path, 'utf8').split(`\n## ${section}\n`);
    const [text = ''] = rest.split('\n## ');
    expect(blocksOf('sh', text).flatMap((block) => block.trim().split('\n')).length).toBeLessThanOrEqual(most);
    if (files > 0) expect(blocksOf('ts', text)).toHaveLength(files);
  });
});

function blocksOf(language: string, text: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, block = '']) => block);
}

describe('a page that promises what does not happen fails', () => {
  const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
  test.each<[string, string, string, string?]>([
    ['a command that fails', block('sh', 'false'), 'exit code 1'],
    ['a line that is not printed', block('sh', 'echo a') + block('text', 'b'), 'is not what the terminals show'],
    ['a section that is not there', '# Page', 'has no blocks', 'Absent'],
    ['a file without a name', block('ts', 'const a = 1;'), 'does not begin with the name of its file'],
    ['a program that does not compile', block('ts', '// a.ts\nconst = 1;') + block('sh', 'node a.ts'), 'exit code 1'],
    ['a package that is not there', block('sh', 'npm i @svc/nothing'), 'exit code 1'],
    [
      'a server that does not start',
      `<!-- stays running -->\n${block('sh', 'exit 1')}${block('text', 'listening')}`,
      'is not what the terminals show',
    ],
  ])('%s', async (_, text, problem, section) => {
    const tree = temporaryTree({ 'page.md': text });
    const walk = walkThrough(join(tree, 'page.md'), { checkout, tarballs: tree, ...(section && { section }) });
    await expect(walk).rejects.toThrow(problem);
  });

  test('a server that ends with a stack when its port is taken', async () => {
    const program =
      "// a.mts\nimport { createServer } from 'node:http';\ncreateServer().listen(8787, '127.0.0.1', () => console.log('up'));";
    const page = `${block('ts', program)}<!-- stays running -->\n${block('sh', 'node a.mts')}${block('text', 'up')}`;
    const tree = temporaryTree({ 'page.md': page });
    const walk = walkThrough(join(tree, 'page.md'), { checkout, tarballs: tree, portsTaken: true });
    await expect(walk).rejects.toThrow(
      'a.mts does not end with one sentence when its port is taken, but with exit code 1',
    );
  });

  test('and a variable of one block is there in the next', async () => {
    const tree = temporaryTree({ 'page.md': block('sh', "A='x y'") + block('sh', 'echo "$A"') + block('text', 'x y') });
    await walkThrough(join(tree, 'page.md'), { checkout, tarballs: tree });
  });
});
