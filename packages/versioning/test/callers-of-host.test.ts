import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { svcVersioning } from '../src/cli/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-versioning-host-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const keyFile = join(folder, 'key');
writeFileSync(keyFile, 'an-audit-key\n');

const LAST = '2026-06-01T00:00:00.000Z';
const DAYS = { days: [{ day: '2026-05-01', major: 2, requests: 4 }], isComplete: true };
const caller = (credential: string, ...requests: readonly number[]) => ({
  ...{ lane: 'api-key', credential },
  majors: requests.map((count, index) => ({ major: index + 1, requests: count, lastAt: LAST })),
});

/** A server that answers each path with the next of its documents, and the requests that it got. */
async function serving(documents: Readonly<Record<string, readonly (object | string)[]>>, status = 200) {
  const asked: string[] = [];
  const left = new Map(Object.entries(documents).map(([path, list]) => [path, [...list]]));
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.headers.authorization} ${request.url}`);
    const document = left.get(request.url?.split('?')[0]?.split('/').at(-1) ?? '')?.shift();
    response.writeHead(document === undefined ? 404 : status, { 'content-type': 'application/json' });
    response.end(typeof document === 'string' ? document : JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked };
}

async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}, command = 'callers') {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await svcVersioning([command, ...args], { stdout, stderr, fetch, environment });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

test('names the credentials of every page that use major 1', async () => {
  const { url, asked } = await serving({
    days: [DAYS],
    callers: [
      { callers: [caller('key_1', 3, 1)], isComplete: true, nextAfter: 'abc' },
      { callers: [caller('key_\u001b[2J', 1)], isComplete: true },
    ],
  });
  expect(await run(['--url', url, '--org', 'acme', '--key-file', keyFile, '--since', '2026-05-01'])).toEqual({
    code: 1,
    out:
      `api-key key_1  3 of 4 requests, last ${LAST}\n` +
      `api-key key_\u{FFFD}[2J  1 of 1 requests, last ${LAST}\n` +
      '2 credentials use major 1 since 2026-05-01, the first day with a request.\n',
    err: '',
  });
  expect(asked).toEqual([
    'Bearer an-audit-key /host/acme/versions/days?since=2026-05-01',
    'Bearer an-audit-key /host/acme/versions/callers?since=2026-05-01&major=1&limit=200',
    'Bearer an-audit-key /host/acme/versions/callers?since=2026-05-01&major=1&limit=200&after=abc',
  ]);
});

test('ends with 0 when no credential is left, and prints JSON', async () => {
  const { url } = await serving({ days: [DAYS], callers: [{ callers: [], isComplete: true }] });
  const { code, out } = await run(['--url', url, '--json'], { SVC_VERSIONING_KEY: 'an-audit-key' });
  expect([code, JSON.parse(out)]).toEqual([0, { firstDay: '2026-05-01', isComplete: true, callers: [] }]);
});

const NONE = { callers: [], isComplete: true };
test.each<[string, Readonly<Record<string, readonly (object | string)[]>>, number, RegExp]>([
  [
    'a host that has counted nothing',
    { days: [{ days: [], isComplete: true }], callers: [NONE] },
    200,
    /counted no request/,
  ],
  ['a host that lost counts', { days: [DAYS], callers: [{ ...NONE, isComplete: false }] }, 200, /could not count/],
  [
    'a host that refuses',
    { days: [{ error: 'forbidden', message: 'No\u001b[2J.' }] },
    403,
    /answered 403: No\u{FFFD}\[2J/u,
  ],
  ['a host without these paths', {}, 200, /answered 404/],
  ['an answer of another form', { days: [{ callers: [] }] }, 200, /without days/],
  ['an answer that is no JSON', { days: ['<html>'] }, 200, /answered 200/],
  ['a redirect', { days: [DAYS] }, 302, /answered 302/],
])('ends with 2 for %s', async (_what, documents, status, message) => {
  const { url } = await serving(documents, status);
  const { code, out, err } = await run(['--url', url, '--key-file', keyFile]);
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
});

test.each<[string, readonly string[], RegExp]>([
  ['no URL', ['--url', 'localhost'], /--url: must be/],
  ['another scheme', ['--url', 'file:///etc'], /--url: must be/],
  ['a log beside a host', ['a.log', '--url', 'http://127.0.0.1:1'], /LOG: is given beside --url/],
  ['no key', ['--url', 'http://127.0.0.1:1'], /--key-file: no key/],
  ['a missing key file', ['--url', 'http://127.0.0.1:1', '--key-file', join(folder, 'none')], /cannot be read/],
  ['a time within a day', ['--url', 'http://127.0.0.1:1', '--since', '2026-01-01T12:00:00Z'], /whole days/],
  ['an org with a path', ['--url', 'http://127.0.0.1:1', '--org', '../x'], /--org/],
  ['a host that is down', ['--url', 'http://127.0.0.1:1', '--key-file', keyFile], /does not answer/],
])('ends with 2 for %s', async (_what, args, message) => {
  const { code, out, err } = await run(args);
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  expect(err).not.toContain('an-audit-key');
});

const report = (compared: number, different: number, changes: object = {}) => ({
  operations: [{ operation: 'readRun', major: 1, compared, different }],
  differences: Array.from({ length: Math.min(different, 1) }, () => ({
    ...{ operation: 'readRun', major: 1, pointer: '/owner/?', kind: 'missing', reads: different, lastAt: LAST },
  })),
  skipped: [{ reason: 'busy', reads: 2 }],
  ...changes,
});

test.each<[string, object, readonly string[], number, RegExp]>([
  [
    'no difference in enough reads',
    report(100, 0),
    [],
    0,
    /^2 reads were not compared: busy\n0 of 100 compared reads differ\.\n$/,
  ],
  ['a difference', report(3, 1), [], 1, /^readRun, asked in major 1: \/owner\/\?: missing \(1 reads, last 2026/],
  ['too few reads', report(99, 0), [], 3, /0 of 99 compared/],
  ['enough reads by choice', report(5, 0), ['--at-least', '5'], 0, /0 of 5/],
  ['nothing compared', { operations: [], differences: [], skipped: [] }, ['--at-least', '1'], 3, /0 of 0/],
  ['JSON', report(100, 0), ['--json'], 0, /"compared": 100/],
])('mirror tells %s', async (_what, document, args, code, expected) => {
  const { url, asked } = await serving({ mirror: [document] });
  const found = await run(['--url', url, '--key-file', keyFile, ...args], {}, 'mirror');
  expect(found).toEqual({ code, out: expect.stringMatching(expected), err: '' });
  expect(asked).toEqual(['Bearer an-audit-key /host/example/versions/mirror?']);
});

test.each<[string, Readonly<Record<string, readonly object[]>>, readonly string[], RegExp]>([
  ['a host that compares nothing', {}, [], /answered 404/],
  ['a report without differences', { mirror: [report(100, 0, { differences: undefined })] }, [], /without differences/],
  ['a count that is none', { mirror: [report(-1, 0)] }, [], /count compared/],
  ['a number that is none', {}, ['--at-least', '0'], /--at-least/],
  ['an argument', {}, ['x'], /takes no argument/],
])('mirror ends with 2 for %s', async (_what, documents, args, message) => {
  const { url } = await serving(documents);
  const { code, out, err } = await run(['--url', url, '--key-file', keyFile, ...args], {}, 'mirror');
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
});
