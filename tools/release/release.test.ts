import { describe, expect, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';

interface Release {
  releaseProblems(root: string, tag: string): string[];
  addressProblem(repository?: { url?: string }): string | undefined;
  distTagOf(version: string): string;
  siblingRange(version: string): string;
  notesOf(root: string, folder: string, version: string): string | undefined;
}
interface Manifests {
  manifestsBehind(root: string): { path: string; manifest: Record<string, unknown> }[];
}

const release: Release = await import(new URL('./release.mjs', import.meta.url).href);
const { manifestsBehind }: Manifests = await import(new URL('../write-manifests.mjs', import.meta.url).href);

const ADDRESS = 'git+https://git.example/svc.git';

/** A project whose packages have the shared fields. */
function project(url = ADDRESS, version = '2.0.0-rc.1') {
  const files: Record<string, unknown> = {
    'package.json': {
      workspaces: ['packages/*', 'tools'],
      repository: { type: 'git', url },
      bugs: { url: 'https://git.example/svc/issues' },
      license: 'Apache-2.0',
      author: 'The authors',
    },
    'tools/package.json': { name: '@svc/tools', private: true },
    '.changeset/config.json': { ignore: ['@svc/tools'] },
    'packages/a/package.json': { name: '@svc/a', version, description: 'Does one thing', license: 'Apache-2.0' },
    'packages/a/CHANGELOG.md': `# Changelog\n\n## ${version}\n\n### Minor Changes\n\n- It does it.\n\n## 2.0.0-rc.0\n\n- Older.\n`,
  };
  const [behind] = manifestsBehind(temporaryTree(files));
  return { ...files, 'packages/a/package.json': behind?.manifest };
}

describe('a release', () => {
  test('goes ahead when the tag is the version of every package', () => {
    expect(release.releaseProblems(temporaryTree(project()), 'v2.0.0-rc.1')).toEqual([]);
  });

  test.each([
    ['a tag of another form', 'v2.0.0-beta.1', () => project(), 'v2.0.0-beta.1: is no tag of a release'],
    ['a tag of another major', 'v3.0.0', () => project(ADDRESS, '3.0.0'), 'v3.0.0: is no tag of a release'],
    ['a tag without v', '2.0.0-rc.1', () => project(), '2.0.0-rc.1: is no tag of a release'],
    ['another version', 'v2.0.0', () => project(), 'packages/a: has version 2.0.0-rc.1. The tag is v2.0.0.'],
    [
      'a placeholder',
      'v2.0.0-rc.1',
      () => project('git+https://repository.invalid/svc.git'),
      'repository: is a placeholder',
    ],
    [
      'a changelog without the version',
      'v2.0.0-rc.1',
      () => ({ ...project(), 'packages/a/CHANGELOG.md': '# Changelog\n' }),
      'packages/a/CHANGELOG.md: has no section 2.0.0-rc.1',
    ],
  ])('is refused for %s', (_, tag, files, problem) => {
    expect(release.releaseProblems(temporaryTree(files()), tag)).toEqual([expect.stringContaining(problem)]);
  });

  test('is refused when a manifest has another address than the project', () => {
    const files = project();
    const manifest = { ...files['packages/a/package.json'], homepage: 'https://other.example' };
    const root = temporaryTree({ ...files, 'packages/a/package.json': manifest });
    expect(release.releaseProblems(root, 'v2.0.0-rc.1')).toEqual([
      expect.stringContaining("packages/a/package.json: differs from the root's package.json"),
    ]);
  });
});

test('a package gets the shared fields of the project, and its own folder', () => {
  expect(project()['packages/a/package.json']).toMatchObject({
    homepage: 'https://git.example/svc/tree/main/packages/a#readme',
    repository: { type: 'git', url: ADDRESS, directory: 'packages/a' },
    scripts: { prepack: expect.stringContaining('refuse-outdated'), prepublishOnly: expect.any(String) },
  });
});

test.each([
  ['2.0.0-rc.1', 'next', '2.0.0-rc.1'],
  ['2.0.0', 'latest', '^2.0.0'],
])('version %s is offered as %s, and siblings depend on it as %s', (version, distTag, range) => {
  expect([release.distTagOf(version), release.siblingRange(version)]).toEqual([distTag, range]);
});

test('the notes of a version are its section of the changelog', () => {
  const root = temporaryTree(project());
  expect(release.notesOf(root, 'packages/a', '2.0.0-rc.1')).toBe('### Minor Changes\n\n- It does it.');
  expect(release.notesOf(root, 'packages/a', '1.0.0')).toBeUndefined();
});
