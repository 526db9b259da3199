import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryTree } from './temporary-tree.ts';

interface Check {
  checkClocks(
    root: string,
    homes?: { readonly timeOfDay: Record<string, string>; readonly timers: Record<string, string> },
  ): string[];
}

const { checkClocks }: Check = await import(new URL('./check-clocks.mjs', import.meta.url).href);

test('the packages of this repository take their clocks from their callers', () => {
  expect(checkClocks(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
});

describe('a file of a package', () => {
  const problemsOf = (text: string, homes = { timeOfDay: {}, timers: {} }) =>
    checkClocks(temporaryTree({ 'packages/a/src/b/wait.ts': text }), homes);

  test.each([
    ['Date.now()', 'const now = Date.now();', 'Date.now'],
    ['Date.now as a default', 'export const at = (now = Date.now) => now();', 'Date.now'],
    ['a date of now', 'const now = new Date();', 'new Date()'],
    ['a date of now without brackets', 'const now = new Date;', 'new Date'],
    ['Date.now in a template', 'const text = `at ${Date.now()}`;', 'Date.now'],
    ['a timer', 'setTimeout(() => {}, 5);', 'setTimeout'],
    ['an interval', 'setInterval(() => {}, 5);', 'setInterval'],
  ])('is refused with %s', (_name, text, used) => {
    expect(problemsOf(`\n${text}\n`)).toEqual([expect.stringContaining(`packages/a/src/b/wait.ts:2 uses ${used}. `)]);
  });

  test.each([
    ['a comment', '// Date.now() and setTimeout()\n/** `setInterval(f, 5)` */\nexport {};'],
    ['a text', "throw new TypeError('now: pass Date.now, or new Date().');"],
    ['the text of a template', 'const text = `${name}: pass Date.now.`;'],
    ['a date of a time', 'const text = new Date(at).toISOString();'],
    ['the monotonic clock', 'const began = performance.now();'],
    ['the type of a timer', 'let timer: ReturnType<typeof setTimeout> | undefined;'],
  ])('passes with %s', (_name, text) => expect(problemsOf(text)).toEqual([]));

  test('passes with an exception, and an exception that is not needed is reported', () => {
    const homes = {
      timeOfDay: { 'packages/a/src/b/': 'a reason' },
      timers: { 'packages/a/src/b/wait.ts': 'a reason' },
    };
    expect(problemsOf('const now = Date.now();', homes)).toEqual([
      'tools/clock-homes.mjs lists packages/a/src/b/wait.ts, which needs no exception',
    ]);
  });
});
