/**
 * Checks that all packages have the same skeleton, and that their tarballs install, import and compile for a user:
 * `node tools/check-package.mjs`, after a build.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { run } from './bootstrap/children.mjs';
import { packageFolders } from './bootstrap/workspaces.mjs';
import { ENTRIES } from './entries.mjs';
import { consumerProblems } from './package-consumer.mjs';
import { docsProblems } from './package-docs.mjs';
import { skeletonProblems } from './package-skeleton.mjs';
import { mapProblems, pack, tarballProblems } from './package-tarball.mjs';

/**
 * @param {string} root a built checkout
 * @param {string} workspace an empty folder outside of it
 * @returns {Promise<string[]>} one sentence for each problem
 */
async function checkPackages(root, workspace) {
  const folders = packageFolders();
  const packages = await Promise.all(folders.map((folder) => checkPackage(root, folder, workspace)));
  const consumer = join(workspace, 'consumer');
  mkdirSync(consumer);
  return [
    ...packages.flatMap(({ problems }) => problems),
    ...(await consumerProblems(root, consumer, packages, ENTRIES)),
  ];
}

async function checkPackage(root, folder, workspace) {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const { path, files } = await pack(root, folder, workspace);
  const program = (name) => join(root, 'node_modules', name);
  const findings = await Promise.all([
    judgement(`publint on ${manifest.name}`, [program('publint/src/cli.js'), path, '--strict']),
    judgement(`attw on ${manifest.name}`, [
      program('@arethetypeswrong/cli/dist/index.js'),
      path,
      '--profile',
      'esm-only',
      '--no-color',
    ]),
  ]);
  const read = (path) => readFileSync(join(root, folder, path), 'utf8');
  const texts = [...mapProblems(files, read), ...docsProblems(files, read)];
  const problems = [
    ...skeletonProblems(root, folder),
    ...tarballProblems(files, manifest),
    ...texts.map((problem) => `the tarball of ${manifest.name}: ${problem}`),
    ...findings.flat(),
  ];
  return { name: manifest.name, tarball: path, problems };
}

async function judgement(title, args) {
  const { code, output } = await run(execPath, args, { env: { ...process.env, NO_COLOR: '1' } });
  return code === 0 ? [] : [`${title}:\n${output}`];
}

async function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  process.chdir(root);
  const workspace = mkdtempSync(join(tmpdir(), 'svc-packages-'));
  try {
    const problems = await checkPackages(root, workspace);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
    else console.log('The packages pack, install, import and compile.');
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) await main();
