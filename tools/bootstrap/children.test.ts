import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';

const script = new URL('./children.mjs', import.meta.url).href;

type Started = ChildProcessByStdio<null, Readable, null>;

/** A process that lets `program` stand in for it. */
function startStandIn(program: string): Started {
  const root = temporaryTree({ 'program.mjs': program });
  return start(
    `const { standIn } = await import('${script}'); process.exit(await standIn(process.execPath, ['program.mjs']));`,
    root,
  );
}

function start(code: string, cwd: string): Started {
  const child = spawn(execPath, ['--input-type=module', '-e', code], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const linesOf = (child: Started) => createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const ended = async (child: Started) => child.exitCode ?? (await once(child, 'exit'))[0];

const LISTENER = `
  process.on('SIGINT', () => console.log('SIGINT'));
  process.on('SIGTERM', () => { console.log('SIGTERM'); setTimeout(() => process.exit(7), 50); });
  setInterval(() => {}, 1000);
  console.log('up');`;

describe('a program that stands in for a process', () => {
  test('gives its exit code', async () => {
    expect(await ended(startStandIn('process.exit(3);'))).toBe(3);
  });

  test('gives the exit code of the signal that ended it', async () => {
    expect(await ended(startStandIn("process.kill(process.pid, 'SIGKILL');"))).toBe(128 + 9);
  });

  test('hears a signal once, although it is sent twice', async () => {
    const child = startStandIn(LISTENER);
    const lines = linesOf(child);
    await lines.next();
    child.kill('SIGINT');
    expect((await lines.next()).value).toBe('SIGINT');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect((await lines.next()).value).toBe('SIGTERM');
    expect(await ended(child)).toBe(7);
  });

  test('hears a signal again when it is meant again', async () => {
    const child = startStandIn(LISTENER);
    const lines = linesOf(child);
    await lines.next();
    for (let time = 0; time < 2; time += 1) {
      child.kill('SIGINT');
      expect((await lines.next()).value).toBe('SIGINT');
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(7);
  });

  test('takes the end of a terminal as SIGTERM', async () => {
    const child = startStandIn(LISTENER);
    await linesOf(child).next();
    child.kill('SIGHUP');
    expect(await ended(child)).toBe(7);
  });

  test('is asked to end when npm is gone', async () => {
    const root = temporaryTree({ 'program.mjs': LISTENER });
    const code = `const { standIn } = await import('${script}'); await standIn(process.execPath, ['program.mjs']);`;
    const shell = `
      const { spawn } = await import('node:child_process');
      const env = { ...process.env, npm_lifecycle_event: 'start' };
      spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(code)}], { stdio: 'inherit', env });`;
    const child = start(shell, root);
    const lines = linesOf(child);
    await lines.next();
    child.kill('SIGTERM');
    expect((await lines.next()).value).toBe('SIGTERM');
    expect((await lines.next()).done).toBe(true);
  });

  // What is started has the same output, so that ends when the last of them has ended.
  const WITH_CHILD = `
    import { spawn } from 'node:child_process';
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'inherit', 'ignore'] });
    child.unref();
    console.log('up');`;

  test('ends with what it started when the process is killed', async () => {
    const child = startStandIn(`${WITH_CHILD} setInterval(() => {}, 1000);`);
    const lines = linesOf(child);
    await lines.next();
    child.kill('SIGKILL');
    expect((await lines.next()).done).toBe(true);
  });

  test('leaves nothing behind when it falls over', async () => {
    const child = startStandIn(`${WITH_CHILD} process.exit(1);`);
    const lines = linesOf(child);
    await lines.next();
    expect((await lines.next()).done).toBe(true);
    expect(await ended(child)).toBe(1);
  });
});

test('a signal during the set-up ends the step, and then the process', async () => {
  const step = "setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(0));";
  const code = `
    const { run } = await import('${script}');
    setTimeout(() => console.log('up'), 200);
    await run(process.execPath, ['-e', ${JSON.stringify(step)}]);
    console.log('went on');`;
  const child = start(code, temporaryTree());
  const lines = linesOf(child);
  await lines.next();
  child.kill('SIGTERM');
  expect((await lines.next()).value).toBe(undefined);
  expect(await ended(child)).toBe(128 + 15);
});
