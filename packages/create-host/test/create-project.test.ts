import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { temporaryTree } from '@svc/tools/temporary-tree';
import { describe, expect, test } from 'vitest';
import { createProject } from '../src/index.ts';

const README = '# A project\n\n```sh\nnpm install\nnpm start\n```\n\n```sh\ncurl http://127.0.0.1:8787\n```\n';

/** Templates as the package has them. */
const TEMPLATES = {
  'express/_gitignore': 'node_modules/\n.env\n',
  'express/_env.example': 'API_KEY_HASH=\n',
  'express/README.md': README,
  'express/package.json': { name: 'host-express', dependencies: { '@svc/host-kit': '^2.0.0' } },
  'express/src/_private.ts': 'export {};\n',
  'hono/README.md': README,
  'hono/package.json': { name: 'host-hono' },
  'workers/README.md': README,
  'workers/package.json': { name: 'receiver-workers' },
  'workers/wrangler.jsonc': '{\n  "name": "receiver-workers",\n  "main": "x"\n}\n',
};

async function create(args: readonly string[], { types }: { types?: string } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: types !== undefined });
  const stdout = Object.assign(new PassThrough(), { isTTY: types !== undefined });
  const stderr = new PassThrough();
  if (types !== undefined) stdin.end(types);
  const templates = temporaryTree(TEMPLATES);
  const shown = { name: 'create-host', command: 'npm create @svc/host', noun: 'host of workflow runs' };
  const options = { ...shown, templates, version: '2.0.0' };
  const code = await createProject(args, { stdin, stdout, stderr }, options);
  return { code, out: String(stdout.read() ?? ''), error: String(stderr.read() ?? '') };
}

describe('a project', () => {
  test('is a copy of the template with its dotfiles, and has the name of its folder', async () => {
    const folder = join(temporaryTree(), 'My Host');
    const { code, error } = await create([folder, '--framework', 'express']);
    expect([code, error]).toEqual([0, '']);
    expect(readdirSync(folder).sort()).toEqual(['.env.example', '.gitignore', 'README.md', 'package.json', 'src']);
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('node_modules/\n.env\n');
    expect(existsSync(join(folder, 'src/_private.ts'))).toBe(true);
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toEqual({
      name: 'my-host',
      dependencies: { '@svc/host-kit': '^2.0.0' },
    });
  });

  test('has its name as a worker, too, so that two projects do not replace each other', async () => {
    const folder = join(temporaryTree(), 'orders');
    expect((await create([folder, '-f', 'workers'])).code).toBe(0);
    expect(readFileSync(join(folder, 'wrangler.jsonc'), 'utf8')).toBe('{\n  "name": "orders",\n  "main": "x"\n}\n');
  });

  test('comes with its next commands, which its README has', async () => {
    const folder = join(temporaryTree(), 'my-host');
    const { out } = await create([folder, '-f', 'express']);
    expect(out.split('\n').map((line) => line.trim())).toEqual(
      expect.arrayContaining([expect.stringMatching(/^cd .*my-host$/), 'npm install', 'npm start']),
    );
    expect(out).not.toContain('curl');
  });

  test('is created in an empty folder, and in a new repository', async () => {
    expect((await create([temporaryTree(), '--framework', 'hono'])).code).toBe(0);
    expect((await create([temporaryTree({ '.git/HEAD': 'x' }), '--framework', 'hono'])).code).toBe(0);
  });

  test('has the framework that was typed on a terminal', async () => {
    const folder = join(temporaryTree(), 'app');
    const { code, out } = await create([folder], { types: 'Hono\n' });
    expect(code).toBe(0);
    expect(out).toContain('Framework (express, hono, workers): ');
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toEqual({ name: 'app' });
  });
});

test('on a terminal, the folder and the framework are asked for', async () => {
  const folder = join(temporaryTree(), 'app');
  const { code, out, error } = await create([], { types: `${folder}\nhono\n` });
  expect([code, error]).toEqual([0, '']);
  expect(out).toContain('Folder: ');
  expect(out).toContain('Framework (express, hono, workers): ');
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toEqual({ name: 'app' });
  const again = await create(['-f', 'hono'], { types: `${folder}\n` });
  expect([again.code, again.error]).toEqual([
    2,
    `${folder}: is not empty. Pass a folder that is empty or does not exist.\n`,
  ]);
  expect((await create([], { types: '\n' })).error).toContain('FOLDER: is missing.');
});

describe('wrong use ends with code 2, a sentence, and nothing written', () => {
  const filled = () => temporaryTree({ 'notes.txt': 'mine' });
  const absent = () => join(temporaryTree(), 'app');
  test.each([
    [
      'no folder',
      () => [],
      'FOLDER: is missing. Pass the folder of the project: npm create @svc/host my-host -- --framework express.',
    ],
    [
      'a framework without -- before it',
      () => ['my-host', 'hono'],
      'Put -- before --framework: npm create @svc/host my-host -- --framework hono.',
    ],
    ['two folders', () => ['a', 'b'], 'FOLDER: is given more than once.'],
    ['a folder with a file', () => [filled(), '-f', 'hono'], 'is not empty.'],
    ['a file', () => [join(filled(), 'notes.txt'), '-f', 'hono'], 'is a file.'],
    [
      'no framework, and no terminal to ask on',
      () => [absent()],
      '--framework: is missing. Pass one of express, hono, workers: npm create @svc/host my-host -- --framework express.',
    ],
    ['a framework without a template', () => [absent(), '-f', 'koa'], 'there is no template koa.'],
    ['a path in place of a framework', () => [absent(), '-f', '../express'], 'there is no template ../express.'],
    ['an unknown option', () => [absent(), '--framwork', 'hono'], '--framwork: is unknown'],
    ['an option without its value', () => [absent(), '--framework'], '--framework: is unknown, or its value is wrong'],
  ])('%s', async (_, args, problem) => {
    const [folder, ...others] = args();
    const before = contentOf(folder);
    const { code, out, error } = await create(folder === undefined ? [] : [folder, ...others]);
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain(problem);
    expect(contentOf(folder)).toEqual(before);
  });

  test('a terminal that is closed instead of an answer', async () => {
    const { code, error } = await create([absent()], { types: '' });
    expect(code).toBe(2);
    expect(error).toContain('there is no template');
  });
});

test('--help names every framework, and --version the version of the package', async () => {
  const { code, out } = await create(['--help']);
  expect(code).toBe(0);
  expect(out).toContain('express, hono, workers');
  expect(await create(['--version'])).toEqual({ code: 0, out: 'create-host 2.0.0\n', error: '' });
});

/** The names in a folder; of a file or a missing folder, whether it exists. */
function contentOf(path = ''): readonly string[] | boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path) : existsSync(path);
}
