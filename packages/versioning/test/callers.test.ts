import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { svcVersioning } from '../src/cli/command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-versioning-callers-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function log(...lines: readonly unknown[]): string {
  const path = join(folder, `${files++}.log`);
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

const request = (keyId: string, major: number, operation = 'readRun', time = '2026-01-01T00:00:00.000Z') => ({
  ...{ time, level: 'info', event: 'request', keyId, tenant: 'acme', operation, major, status: 200 },
});

async function run(...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const fetch = () => Promise.reject(new Error('The command reads no network.'));
  const code = await svcVersioning(['callers', ...args], { stdout, stderr, fetch });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

describe('svc-versioning callers', () => {
  test('names the credentials that use major 1, those with the most requests first', async () => {
    const one = log(request('key_1', 1), request('key_2', 1), request('key_3', 2), { event: 'delivery.attempted' });
    const two = log(
      request('key_1', 2),
      request('key_2', 1, 'createRun', '2026-02-01T00:00:00.000Z'),
      request('key_2', 1),
    );
    expect(await run(one, two)).toEqual({
      code: 1,
      out:
        'acme key_2  3 of 3 requests, last 2026-02-01T00:00:00.000Z: createRun, readRun\n' +
        'acme key_1  1 of 2 requests, last 2026-01-01T00:00:00.000Z: readRun\n' +
        '2 of 3 callers use major 1.\n',
      err: '',
    });
  });

  test('ends with 0 when no caller uses major 1, or none since a time', async () => {
    const path = log(request('key_1', 2), request('key_2', 1), request('key_1', 2, 'x', '2026-03-01T00:00:00.000Z'));
    expect((await run(log(request('key_1', 2)))).code).toBe(0);
    expect(await run(path, '--since', '2026-02-01T00:00:00Z')).toEqual({
      code: 0,
      out: '0 of 1 callers use major 1.\n',
      err: '',
    });
    expect((await run(path, '--since', '2026-01-01T00:00:00Z')).code).toBe(1);
  });

  test('leaves out requests under /host, which belong to no major, and counts their twins under /v1', async () => {
    const mounted = (keyId: string, path: string) => ({ ...request(keyId, 1, 'host'), path });
    const { out } = await run(log(mounted('k1', '/host/example/keys'), mounted('k2', '/v1/host/example/keys')));
    expect(out).toContain('1 of 1 callers use major 1.');
  });

  test('--json prints the callers', async () => {
    const { out } = await run(log(request('key_1', 1)), '--json');
    expect(JSON.parse(out)).toEqual([
      {
        tenant: 'acme',
        keyId: 'key_1',
        requests: { 1: 1, 2: 0 },
        lastOfMajor1: '2026-01-01T00:00:00.000Z',
        operations: ['readRun'],
      },
    ]);
  });

  test('leaves out lines that are no records, and says how many', async () => {
    const { code, out, err } = await run(
      log('{', 'null', '[]', '', '"x"', { event: 'request', major: 1 }, request('k', 1)),
    );
    expect([code, out]).toEqual([1, expect.stringContaining('1 of 1 callers use major 1.')]);
    expect(err).toBe('svc-versioning callers: 4 lines are no JSON objects, and were left out.\n');
  });

  test('keeps tenants apart, and escapes control characters', async () => {
    const path = log(
      request('k', 1),
      { ...request('k', 2), tenant: 'other' },
      request('__proto__', 1, '\u001b[2J\u202e'),
    );
    const { out } = await run(path);
    expect(out).toContain('2 of 3 callers use major 1.');
    expect(['\u001b', '\u202e'].filter((character) => out.includes(character))).toEqual([]);
  });

  test.each<[string, () => readonly string[], RegExp]>([
    ['no file', () => [], /LOG: at least one file/],
    ['a missing file', () => [join(folder, 'none')], /cannot be read/],
    ['a log without requests', () => [log({ event: 'x' })], /has no requests of known callers/],
    ['an empty log', () => [log()], /has no requests/],
    ['a line that is too long', () => [log('x'.repeat(1_100_000), request('k', 1))], /more than 1 MiB/],
    ['a time that is none', () => [log(request('k', 1)), '--since', 'yesterday'], /--since: must be a time/],
    ['an unknown option', () => ['--none'], /none/],
  ])('ends with 2 for %s', async (_what, args, message) => {
    const { code, out, err } = await run(...args());
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });
});
