import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeProcess, KEY, startAcmeProcess } from './acme-host.ts';
import { eventually } from './booted-host.ts';

interface Block {
  readonly language: string;
  readonly lines: readonly string[];
}
interface PageBlocks {
  readPage(text: string): { readonly blocks: readonly Block[] };
}
interface ShownOutput {
  missingLine(output: string, shown: readonly string[]): number | undefined;
}

const toolOf = (name: string) => import(new URL(`../../../tools/${name}`, import.meta.url).href);
const { readPage }: PageBlocks = await toolOf('page-blocks.mjs');
const { missingLine }: ShownOutput = await toolOf('shown-output.mjs');

const COMMAND = fileURLToPath(new URL('../../../packages/versioning/dist/cli/main.js', import.meta.url));
const PAGE = readFileSync(new URL('../../../docs/guides/retire-major-1.md', import.meta.url), 'utf8');
const { blocks } = readPage(PAGE);
const codeOf = (language: string) =>
  blocks.filter((block) => block.language === language).map(({ lines }) => lines.join('\n'));
const [both, alone] = codeOf('json').map((text) => JSON.parse(text));
const [mirror = '', callers = '', days = '', agreement = '', check = ''] = codeOf('sh');

const AUDIT = 'operator_brought_key_that_reads_the_records';
let host: AcmeProcess;

beforeAll(async () => {
  const key = { tenant: 'acme', mode: 'live', principal: 'p_1', workspaces: ['*'] };
  host = await startAcmeProcess(
    {},
    {
      apiKeys: [
        { ...key, id: 'key_1', key: KEY, scopes: ['runs:create', 'runs:read', 'manifest:read'] },
        { ...key, id: 'key_2', key: AUDIT, scopes: ['audit:read'] },
      ],
      // Every read, so that the test needs no more than the page asks for.
      protocol: { ...both.protocol, mirror: { ...both.protocol.mirror, share: 1 } },
    },
  );
  writeFileSync(host.path('audit.key'), `${AUDIT}\n`);
  mkdirSync(host.path('bin'));
  // npx -p @svc/versioning svc-versioning …
  writeFileSync(host.path('bin/npx'), `#!/bin/sh\nshift 3\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
  chmodSync(host.path('bin/npx'), 0o755);
});
afterAll(() => host.stop());

/** Runs a command of the page on the host, and returns its exit code. It prints what the page shows. */
async function run(command: string): Promise<number | null> {
  const child = spawn('bash', ['-e', '-c', command.replaceAll('http://localhost:8787', host.url())], {
    cwd: host.path('.'),
    env: { ...process.env, PATH: `${host.path('bin')}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const shown = [...command.matchAll(/^# → (.*)$/gm)].map(([, line = '']) => line);
  expect(shown.length).toBeGreaterThan(0);
  const missing = missingLine(output, shown);
  expect(missing === undefined ? undefined : shown[missing], output).toBeUndefined();
  return status;
}

test('the commands of the page compare the majors, name the last caller, and check the host that serves major 2', async () => {
  const nothing = mirror.replace(/^# → .*$/gm, '# → 0 of 0 compared reads differ.');
  expect(await run(nothing)).toBe(3);
  for (let turn = 0; turn < 12; turn++) {
    const { status, headers } = await host.call('/v1/workflows/echo');
    expect([status, headers.get('sunset')]).toEqual([200, 'Fri, 01 Jan 2027 00:00:00 GMT']);
    await eventually(async () => {
      const { body } = await host.call('/host/example/versions/mirror', { key: AUDIT });
      return body.operations[0]?.compared === turn + 1;
    });
  }
  expect(await run(mirror)).toBe(0);
  await eventually(async () => {
    const { body } = await host.call('/host/example/versions/callers', { key: AUDIT });
    return body.callers[0]?.majors[0].requests === 12;
  });
  expect(await run(callers)).toBe(1);
  expect(await run(days)).toBe(0);

  // Every route announces the same dates, and the reports of callers and of days count the same requests.
  expect(await run(agreement)).toBe(0);
  const over = agreement.replace('2026-12-31', '2027-01-01').replace(/^# → .*$/m, '# → ✗ major 1 is not served after');
  expect(await run(over.replace('after', 'after its sunset: it is served, …'))).toBe(1);

  // A later day, on which all callers have moved.
  await host.reboot({}, { protocol: alone.protocol });
  expect(await run(check)).toBe(0);
  expect((await host.call('/v1/workflows/echo')).status).toBe(404);
  expect((await host.call('/host/example/versions/mirror', { key: AUDIT })).status).toBe(404);
  // The counts of the time before are still there.
  expect(await run(callers)).toBe(1);
});

test('a killed host keeps what it has written, and counts on', async () => {
  const requests = async (major: number) => {
    const { body } = await host.call(`/host/example/versions/callers?major=${major}`, { key: AUDIT });
    const found = body.callers.find(({ credential }: { credential: string }) => credential === 'key_1');
    return found?.majors.find((use: { major: number }) => use.major === major)?.requests ?? 0;
  };
  expect((await host.call('/workflows/echo', { major: '2' })).status).toBe(200);
  await eventually(async () => (await requests(2)) >= 1);
  const before = await requests(2);
  await host.crash();
  expect(await requests(2)).toBe(before);
  expect((await host.call('/workflows/echo', { major: '2' })).status).toBe(200);
  await eventually(async () => (await requests(2)) === before + 1);
  expect(await requests(1)).toBe(12);
});
