import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SuiteReport } from './report.ts';

const DEADLINE_MS = 60_000;
const RUNNER = fileURLToPath(new URL('./runner.mjs', import.meta.url));

/** Runs a suite in a program that reads files: Node, Bun or Deno. */
export async function runInProcess(program: string, args: readonly string[], suite: URL): Promise<SuiteReport> {
  const child = spawn(program, [...args, RUNNER, suite.href], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${errors}${output}`);
  return JSON.parse(output);
}
