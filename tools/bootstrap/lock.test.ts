import { execFile } from 'node:child_process';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';

interface Lock {
  withLock<T>(path: string, work: () => Promise<T>): Promise<T>;
}

const script = new URL('./lock.mjs', import.meta.url).href;
const { withLock }: Lock = await import(script);
const node = promisify(execFile);

/** Returns the id of a process that has just ended. */
async function goneOwner(): Promise<string> {
  const { stdout } = await node(execPath, ['-p', 'process.pid']);
  return stdout.trim();
}

test('lets several processes work one after another', async () => {
  const root = temporaryTree();
  const program = `
    import { appendFileSync } from 'node:fs';
    import { withLock } from ${JSON.stringify(script)};
    await withLock('lock', async () => {
      appendFileSync('log', 'begin ');
      await new Promise((resolve) => setTimeout(resolve, 50));
      appendFileSync('log', 'end ');
    });`;
  const runs = Array.from({ length: 4 }, () => node(execPath, ['--input-type=module', '-e', program], { cwd: root }));
  await Promise.all(runs);
  expect(readFileSync(join(root, 'log'), 'utf8')).toBe('begin end '.repeat(4));
});

test('gives the lock of an ended process to one waiting process at a time', async () => {
  const path = join(temporaryTree({ lock: await goneOwner() }), 'lock');
  let atOnce = 0;
  const most = await Promise.all(
    [1, 2, 3].map(() =>
      withLock(path, async () => {
        atOnce += 1;
        const seen = atOnce;
        await new Promise((resolve) => setTimeout(resolve, 20));
        atOnce -= 1;
        return seen;
      }),
    ),
  );
  expect(most).toEqual([1, 1, 1]);
});

test('takes over the lock of a running process without a beat for a minute', async () => {
  const path = join(temporaryTree({ lock: String(process.ppid) }), 'lock');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(path, longAgo, longAgo);
  expect(await withLock(path, async () => 'done')).toBe('done');
});

test('releases the lock when the work fails', async () => {
  const path = join(temporaryTree(), 'lock');
  const failing = withLock(path, async () => {
    throw new Error('not today');
  });
  await expect(failing).rejects.toThrow('not today');
  expect(existsSync(path)).toBe(false);
});

test('keeps a lock that another process has taken over', async () => {
  const path = join(temporaryTree(), 'lock');
  await withLock(path, async () => writeFileSync(path, 'another'));
  expect(readFileSync(path, 'utf8')).toBe('another');
});
