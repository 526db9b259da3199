import { describe, expect, test } from 'vitest';

interface Entry {
  version?: string;
  integrity?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
}
interface Install {
  isInstalled(
    lock: { packages: Record<string, Entry> },
    note: { packages: Record<string, Entry> } | undefined,
  ): boolean;
}

const { isInstalled }: Install = await import(new URL('./install.mjs', import.meta.url).href);

const zod = { 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' } };
const fitting = { 'node_modules/fitting': { version: '1.0.0', optional: true, os: [process.platform] } };
const foreign = { 'node_modules/foreign': { version: '1.0.0', optional: true, os: ['plan9'] } };
const lock = { packages: { '': { version: '0.0.0' }, ...zod, ...fitting, ...foreign } };

describe('what npm has noted is taken for installed', () => {
  test('when it is what the lockfile says, without what is optional and does not fit', () => {
    expect(isInstalled(lock, { packages: { ...zod, ...fitting } })).toBe(true);
  });

  test('when only the version of a workspace differs, which is a link', () => {
    const workspace = (version: string) => ({ 'packages/a': { version } });
    const noted = { packages: { ...zod, ...workspace('2.0.0-rc.1') } };
    expect(isInstalled({ packages: { '': {}, ...zod, ...workspace('2.0.0') } }, noted)).toBe(true);
  });

  test.each([
    ['there is no note', undefined],
    ['a package is missing', { packages: { ...fitting } }],
    ['a version differs', { packages: { 'node_modules/zod': { version: '4.0.1', integrity: 'sha512-a' } } }],
    ['the bytes differ', { packages: { 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-b' } } }],
    ['there is more', { packages: { ...zod, 'node_modules/extra': { version: '1.0.0' } } }],
    ['it is for another machine', { packages: { ...zod, ...foreign } }],
  ])('but not when %s', (_, note) => {
    expect(isInstalled(lock, note)).toBe(false);
  });
});
