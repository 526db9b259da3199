import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';

const script = new URL('./children.mjs', import.meta.url).href;

type Started = ChildProcessByStdio<null, Readable, null>;

/** Starts a process that runs `program` in its place. */
function startStandIn(program: string, options: { readonly echoMs?: number } = {}): Started {
  const root = temporaryTree({ 'program.mjs': program });
  return start(
    `const { standIn } = await import(${JSON.stringify(script)});
    process.exit(await standIn(process.execPath, ['program.mjs'], ${JSON.stringify(options)}));`,
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

describe('a program that runs in place of a process', () => {
  test('determines the exit code', async () => {
    expect(await ended(startStandIn('process.exit(3);'))).toBe(3);
  });

  test('determines the exit code by the signal that ended it', async () => {
    expect(await ended(startStandIn("process.kill(process.pid, 'SIGKILL');"))).toBe(128 + 9);
  });

  test('gets a signal once when it is sent twice', async () => {
    const child = startStandIn(LISTENER, { echoMs: 60_000 });
    const lines = linesOf(child);
    await lines.next();
    child.kill('SIGINT');
    expect((await lines.next()).value).toBe('SIGINT');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect((await lines.next()).value).toBe('SIGTERM');
    expect(await ended(child)).toBe(7);
  });

  test('gets a signal again when it is sent again later', async () => {
    const child = startStandIn(LISTENER, { echoMs: 20 });
    const lines = linesOf(child);
    await lines.next();
    for (let time = 0; time < 2; time += 1) {
      child.kill('SIGINT');
      expect((await lines.next()).value).toBe('SIGINT');
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(7);
  });

  test('gets SIGTERM when the terminal is closed', async () => {
    const child = startStandIn(LISTENER);
    await linesOf(child).next();
    child.kill('SIGHUP');
    expect(await ended(child)).toBe(7);
  });

  test('gets SIGTERM when npm has ended', async () => {
    const root = temporaryTree({ 'program.mjs': LISTENER });
    const code = `const { standIn } = await import(${JSON.stringify(script)}); await standIn(process.execPath, ['program.mjs']);`;
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

  // The started process shares the output, which therefore closes when the last of them has ended.
  const WITH_CHILD = `
    import { spawn } from 'node:child_process';
    const stdio = ['ignore', 'inherit', 'ignore'];
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio });
    child.unref();
    console.log('up');`;

  test('ends with its own children when the process is killed', async () => {
    const child = startStandIn(`${WITH_CHILD} setInterval(() => {}, 1000);`);
    const lines = linesOf(child);
    await lines.next();
    child.kill('SIGKILL');
    expect((await lines.next()).done).toBe(true);
  });

  test('leaves no child running when it crashes', async () => {
    const child = startStandIn(`${WITH_CHILD} process.exit(1);`);
    const lines = linesOf(child);
    await lines.next();
    expect((await lines.next()).done).toBe(true);
    expect(await ended(child)).toBe(1);
  });
});

test('a signal during a step of the set-up ends the step, and then the process', async () => {
  const step = "setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(0));";
  const code = `
    const { run } = await import(${JSON.stringify(script)});
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
