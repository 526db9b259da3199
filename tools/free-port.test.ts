import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from './free-port.ts';

const HOLDER = `
  const { freePort } = await import(${JSON.stringify(new URL('free-port.ts', import.meta.url).href)});
  const ports = [];
  for (let count = 0; count < 500; count++) ports.push(await freePort());
  console.log(JSON.stringify(ports));
  process.stdin.resume();
`;

// Of 300 ports at random, 12 would be among the 500 of the other process.
test('a port that a process has been given is given to no other one while it lives', async () => {
  const holder = spawn(execPath, ['--input-type=module', '-e', HOLDER], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    holder.stdin.end();
    if (holder.exitCode === null) await once(holder, 'exit');
  });
  const [line] = await once(holder.stdout, 'data');
  const others: readonly number[] = JSON.parse(String(line));
  const ports: number[] = [];
  for (let count = 0; count < 300; count++) ports.push(await freePort());
  expect(new Set([...others, ...ports]).size).toBe(800);
});
