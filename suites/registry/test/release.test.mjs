import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { after, before, describe, test } from 'node:test';
import { blankProject, cloneTo, installIn, readJson, settle } from '../clone.mjs';
import { personWith, startRegistry } from '../registry.mjs';

const { run } = await import(join(env.SVC_CHECKOUT, 'tools/bootstrap/children.mjs'));
const { distTagOf } = await import(join(env.SVC_CHECKOUT, 'tools/release/release.mjs'));
const { publishedPackages } = await import(join(env.SVC_CHECKOUT, 'tools/release/workspaces.mjs'));

const PACKAGES = publishedPackages(env.SVC_CHECKOUT);

describe('a release', { concurrency: 1 }, () => {
  const workspace = mkdtempSync(join(tmpdir(), 'svc-registry-'));
  const clone = join(workspace, 'clone');
  let registry;
  let person;
  let version;

  before(async () => {
    registry = await startRegistry(mkdtempSync(join(workspace, 'registry-')));
    person = personWith(registry.url, join(workspace, 'person'));
    // A command of a package runs on the Node that the path names.
    person.PATH = [dirname(execPath), person.PATH].join(delimiter);
    await cloneTo(clone);
  });
  after(async () => {
    await registry?.close();
    rmSync(workspace, { recursive: true, force: true });
  });

  const inClone = (command, args, folder = '.') => run(command, args, { cwd: join(clone, folder), env: person });
  const published = async (name) => (await fetch(registry.url + name.replace('/', '%2f'))).status;

  for (const { folder, manifest } of PACKAGES) {
    test(`${manifest.name} is not published without a build`, async () => {
      const { code, output } = await inClone('npm', ['publish', '--tag', 'next'], folder);
      assert.notEqual(code, 0);
      assert.match(output, new RegExp(`${folder}: is not built from its current sources .*npm run build`));
      assert.equal(await published(manifest.name), 404);
    });
  }

  test('the placeholder of the address is not published to another machine', async () => {
    const [{ folder }] = PACKAGES;
    const elsewhere = ['publish', '--tag', 'next', '--registry', 'https://registry.invalid/'];
    const { code, output } = await inClone('npm', elsewhere, folder);
    assert.notEqual(code, 0);
    assert.match(output, /repository: is a placeholder/);
  });

  test('gives every workspace one version of the form that tags have', async () => {
    installIn(clone);
    settle(clone);
    const { code, output } = await inClone('npm', ['run', 'release:version']);
    assert.equal(code, 0, output);
    const lock = readJson(clone, 'package-lock.json');
    const folders = Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'));
    const versions = folders.flatMap((folder) => [
      readJson(join(clone, folder), 'package.json'),
      lock.packages[folder],
    ]);
    version = versions[0].version;
    assert.match(version, /^2\.\d+\.\d+(-rc\.\d+)?$/);
    for (const one of versions) assert.equal(one.version, version);
  });

  test('has a lockfile that agrees with the manifests', async () => {
    const { code, output } = await inClone('npm', ['ls', '--all', '--package-lock-only']);
    assert.equal(code, 0, output.slice(-2000));
  });

  test('is not packed for a tag of another version', async () => {
    const { code, output } = await inClone('npm', ['run', 'release:pack', '--', 'v2.99.0']);
    assert.notEqual(code, 0);
    assert.match(output, /has version .* The tag is v2\.99\.0\./);
    assert.equal(existsSync(join(clone, 'release')), false);
  });

  test('is packed with a bill of materials for each package, and with notes', async () => {
    const { code, output } = await inClone('npm', ['run', 'release:pack', '--', `v${version}`]);
    assert.equal(code, 0, output);
    const files = readdirSync(join(clone, 'release'));
    assert.equal(files.filter((name) => name.endsWith('.tgz')).length, PACKAGES.length);
    for (const tarball of files.filter((name) => name.endsWith('.tgz'))) {
      const bom = readJson(join(clone, 'release'), tarball.replace('.tgz', '.cdx.json'));
      assert.equal(bom.metadata.component.version, version);
      for (const { name, licenses } of bom.components) assert.equal(licenses?.length, 1, `the licence of ${name}`);
    }
    assert.match(readFileSync(join(clone, 'release/notes.md'), 'utf8'), /^## @svc\/[\w-]+\n\n### /);
  });

  test('is published, with its address, and goes on where it was interrupted', async () => {
    const publish = () => inClone('node', ['tools/release/publish.mjs', 'release']);
    const first = await publish();
    assert.equal(first.code, 0, first.output);
    for (const { folder, manifest } of PACKAGES) {
      const found = await (await fetch(registry.url + manifest.name.replace('/', '%2f'))).json();
      assert.equal(found['dist-tags'][distTagOf(version)], version);
      const { repository, homepage, bugs, license } = found.versions[version];
      assert.deepEqual(repository, { type: 'git', url: 'git+https://git.example/svc.git', directory: folder });
      assert.deepEqual(
        [homepage, bugs.url, license],
        [`https://git.example/svc/tree/main/${folder}#readme`, 'https://git.example/svc/issues', 'Apache-2.0'],
      );
    }
    const second = await publish();
    assert.equal(second.code, 0, second.output);
    assert.equal(second.output.match(/is published already/g)?.length, PACKAGES.length);
  });

  test('does not publish a tarball that was changed after it was packed', async () => {
    const changed = join(workspace, 'changed');
    cpSync(join(clone, 'release'), changed, { recursive: true });
    const list = readJson(changed, 'release.json');
    const [first] = list.packages;
    const tarball = join(changed, first.tarball);
    appendFileSync(tarball, 'more');
    const alone = await inClone('node', ['tools/release/publish.mjs', changed]);
    assert.notEqual(alone.code, 0);
    assert.match(alone.output, /differs from release\.json/);
    first.integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    writeFileSync(join(changed, 'release.json'), JSON.stringify(list));
    const listed = await inClone('node', ['tools/release/publish.mjs', changed]);
    assert.notEqual(listed.code, 0);
    assert.match(listed.output, /is published with other content/);
  });

  for (const { manifest } of PACKAGES) {
    const { name } = manifest;
    test(`${name} is installed by its name, and every entry is imported`, async () => {
      const project = blankProject(join(workspace, name.replace('/', '-')));
      const peers = Object.keys(manifest.peerDependencies ?? {});
      const spec = `${name}@${distTagOf(version)}`;
      const installed = await run('npm', ['install', spec, ...peers], { cwd: project, env: person });
      assert.equal(installed.code, 0, installed.output);
      const { exports = {} } = readJson(join(project, 'node_modules', name), 'package.json');
      const entries = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'));
      const program = entries.map((subpath) => `await import('${name}${subpath.slice(1)}');`).join('\n');
      const imported = await run('node', ['--input-type=module', '--eval', program], { cwd: project, env: person });
      assert.equal(imported.code, 0, imported.output);
      for (const command of Object.keys(manifest.bin ?? {})) {
        const help = await run(join(project, 'node_modules/.bin', command), ['--help'], { cwd: project, env: person });
        assert.equal(help.code, 0, help.output);
        assert.match(help.output, /usage/i);
        const told = await run(join(project, 'node_modules/.bin', command), ['--version'], {
          cwd: project,
          env: person,
        });
        assert.equal(told.output.trim(), `${command} ${version}`);
      }
    });

    for (const command of Object.keys(manifest.bin ?? {})) {
      test(`npx finds ${command} in ${name}, from a folder without it`, async () => {
        const project = blankProject(join(workspace, `npx-${command}`));
        const args = ['--yes', '-p', `${name}@${distTagOf(version)}`, command, '--help'];
        const { code, output } = await run('npx', args, { cwd: project, env: person });
        assert.equal(code, 0, output);
        assert.match(output, /usage/i);
      });
    }
  }
});
