import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { conformingConfig } from '../examples/reference-host/test/conformance/conforming-config.ts';

/** A booted reference host. */
export interface Host {
  readonly url: string;
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../examples/reference-host/dist/main.js', import.meta.url));

/** Boots the reference host on a database in a folder of its own, with durable delivery and all keys of the suite. */
export async function bootHost(): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mutants-'));
  const config = join(folder, 'config.json');
  const database = join(folder, 'svc.db');
  writeFileSync(config, JSON.stringify(conformingConfig(database, { webhooks: { durable: true } })));
  const child = spawn(process.execPath, [MAIN, '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const problems: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (problems.length < MOST_LINES) problems.push(line);
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: child.stdout })) return { url: String(JSON.parse(line).url), stop };
  await stop();
  throw new Error(`The host did not become ready: ${problems.join('\n')}`);
}

const MOST_LINES = 50;
