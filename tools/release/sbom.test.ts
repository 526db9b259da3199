import { expect, test } from 'vitest';

interface Sbom {
  sbomOf(
    lock: object,
    folder: string,
    integrity?: string,
  ): { metadata: object; components: object[]; dependencies: object[] };
  productionDependencies(lock: object, folder: string): { path: string; entry: { name: string } }[];
}

const { sbomOf, productionDependencies }: Sbom = await import(new URL('./sbom.mjs', import.meta.url).href);

const LOCK = {
  packages: {
    'packages/a': {
      name: '@svc/a',
      version: '2.0.0',
      license: 'Apache-2.0',
      dependencies: { '@svc/b': '^2.0.0', shared: '1' },
      devDependencies: { tests: '1' },
      peerDependencies: { database: '1', needed: '1' },
      peerDependenciesMeta: { database: { optional: true } },
    },
    'packages/b': { name: '@svc/b', version: '2.0.0', license: 'Apache-2.0', dependencies: { shared: '2' } },
    'packages/b/node_modules/shared': { version: '2.0.1', license: '(MIT OR ISC)', integrity: 'sha512-AQID' },
    'node_modules/@svc/b': { link: true, resolved: 'packages/b' },
    'node_modules/shared': { version: '1.0.1', license: 'MIT', dependencies: { deep: '1' } },
    'node_modules/deep': { version: '1.0.0', license: 'ISC', dev: true },
    'node_modules/needed': { version: '1.0.0', license: 'MIT' },
    'node_modules/tests': { version: '1.0.0', license: 'MIT' },
    'node_modules/database': { version: '1.0.0', license: 'MIT' },
  },
};

test('lists every package that an installation brings along, and no other', () => {
  const names = productionDependencies(LOCK, 'packages/a').map(({ path, entry }) => `${entry.name} of ${path}`);
  expect(names).toEqual([
    '@svc/b of packages/b',
    'deep of node_modules/deep',
    'needed of node_modules/needed',
    'shared of node_modules/shared',
    'shared of packages/b/node_modules/shared',
  ]);
});

test('describes versions, licences, hashes and dependencies', () => {
  const bom = sbomOf(LOCK, 'packages/a', 'sha512-BAUG');
  expect(bom.metadata).toMatchObject({
    component: { purl: 'pkg:npm/%40svc/a@2.0.0', hashes: [{ alg: 'SHA-512', content: '040506' }] },
  });
  expect(bom.components).toContainEqual({
    'bom-ref': 'shared@2.0.1',
    type: 'library',
    name: 'shared',
    version: '2.0.1',
    purl: 'pkg:npm/shared@2.0.1',
    licenses: [{ expression: '(MIT OR ISC)' }],
    hashes: [{ alg: 'SHA-512', content: '010203' }],
    scope: 'required',
  });
  expect(bom.dependencies).toContainEqual({ ref: '@svc/b@2.0.0', dependsOn: ['shared@2.0.1'] });
});
