import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeProcess, startAcmeProcess } from './acme-host.ts';
import { type BootedHost, bootHost, eventually } from './booted-host.ts';

interface PageBlocks {
  readPage(text: string): {
    readonly blocks: readonly { readonly language: string; readonly lines: readonly string[] }[];
  };
}
interface ShownOutput {
  missingLine(output: string, shown: readonly string[]): number | undefined;
}

const toolOf = (name: string) => import(new URL(`../../../tools/${name}`, import.meta.url).href);
const { readPage }: PageBlocks = await toolOf('page-blocks.mjs');
const { missingLine }: ShownOutput = await toolOf('shown-output.mjs');

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const PAGE = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');

let host: AcmeProcess;
const booted: BootedHost[] = [];

beforeAll(async () => {
  host = await startAcmeProcess({ durable: true }, { audit: { checkpointIntervalEntries: 10 } });
  // The page calls the configuration host.json, and the command svc-host.
  const config = JSON.parse(readFileSync(host.path('config.json'), 'utf8'));
  writeFileSync(host.path('host.json'), JSON.stringify({ ...config, store: 'sqlite:svc.db' }));
  mkdirSync(host.path('bin'));
  writeFileSync(host.path('bin/svc-host'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(host.path('bin/svc-host'), 0o755);
});
afterAll(async () => {
  for (const { process: child } of booted) child.kill('SIGKILL');
  await host.stop();
});

/** Returns the shell blocks of a procedure of the page. */
function commandsOf(procedure: string): readonly string[] {
  const start = PAGE.indexOf(`\n### ${procedure}\n`);
  expect(start, `the page has the procedure ${procedure}`).toBeGreaterThan(-1);
  const end = PAGE.slice(start + 1).search(/\n#{2,3} /);
  const { blocks } = readPage(PAGE.slice(start, start + 1 + end));
  return blocks.filter(({ language }) => language === 'sh').map(({ lines }) => lines.join('\n'));
}

/** Executes the commands of a procedure in the folder of the host. They print what the page shows. */
async function execute(procedure: string): Promise<void> {
  const commands = commandsOf(procedure);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    const child = spawn('bash', ['-e', '-c', command], {
      cwd: host.path('.'),
      env: { ...process.env, PATH: `${host.path('bin')}:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
    expect(status, output).toBe(0);
    const shown = [...command.matchAll(/^# → (.*)$/gm)].map(([, line = '']) => line);
    expect(shown.length).toBeGreaterThan(0);
    const missing = missingLine(output, shown);
    expect(missing === undefined ? undefined : shown[missing], output).toBeUndefined();
  }
}

async function boot(): Promise<BootedHost> {
  const config = JSON.parse(readFileSync(host.path('host.json'), 'utf8'));
  const started = await bootHost(host.path('started.json'), { ...config, store: `sqlite:${host.path('svc.db')}` });
  booted.push(started);
  return started;
}

async function end(started: BootedHost): Promise<void> {
  started.process.kill('SIGTERM');
  expect(await started.ended).toBe(0);
}

test('the commands of the page back a host up, restore it, put a lost key back and rotate the key', async () => {
  const hook = { url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
  expect((await host.call('/v1/webhooks', { body: hook })).status).toBe(201);
  await execute('Backup');
  expect(readdirSync(host.path('monday'))).toEqual(['manifest.json', 'svc.db']);

  expect(await host.end('SIGTERM')).toBe(0);
  await execute('Restore');
  await end(await boot());

  rmSync(host.path('svc.db-secret-key'));
  await execute('Loss of a key');
  await execute('Rotation of the secret key');
  const started = await boot();
  const oldId = JSON.parse(readFileSync(host.path('monday/manifest.json'), 'utf8')).secretKeyIds[0];
  await eventually(async () => !(await keysTold()).includes(oldId));
  await end(started);
});

/** Returns the line of `check-db` about the keys. */
async function keysTold(): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'check-db', '--config', 'host.json'], { cwd: host.path('.') });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return /^keys: .*$/m.exec(output)?.[0] ?? '';
}
