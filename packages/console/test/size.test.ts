import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PAGE_FILES } from '#page';

const bytesIn = (files: typeof PAGE_FILES, coding: 'br' | 'gzip') =>
  files.reduce((bytes, file) => bytes + Buffer.from(file[coding], 'base64').length, 0);
const textOf = (path: string) => {
  const file = PAGE_FILES.find((each) => each.path === path);
  return brotliDecompressSync(Buffer.from(file?.br ?? '', 'base64')).toString();
};

test('the files of the first visit are at most 35 KiB in Brotli, and 40 KiB in gzip', () => {
  const html = textOf('');
  const first = PAGE_FILES.filter(({ path }) => path === '' || html.includes(`"${path}"`));
  console.log(`the first visit: ${bytesIn(first, 'br')} B in Brotli, ${bytesIn(first, 'gzip')} B in gzip`);
  console.log(`all files: ${bytesIn(PAGE_FILES, 'br')} B in Brotli, ${bytesIn(PAGE_FILES, 'gzip')} B in gzip`);
  expect(first).toHaveLength(5);
  expect(bytesIn(first, 'br')).toBeLessThanOrEqual(35 * 1024);
  expect(bytesIn(first, 'gzip')).toBeLessThanOrEqual(40 * 1024);
});

test('every file is named by the page or by one of its scripts, and one part is loaded later', () => {
  const html = textOf('');
  const scripts = PAGE_FILES.filter(({ path }) => path.endsWith('.js')).map(({ path }) => textOf(path));
  const later = PAGE_FILES.filter(({ path }) => path !== '' && !html.includes(`"${path}"`));
  expect(later).toHaveLength(1);
  for (const { path } of later) expect(scripts.some((text) => text.includes(`import("./${path}")`))).toBe(true);
});
