import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { svcConformance } from '../src/cli/command.ts';

const KEY = 'a-key-that-no-report-may-show';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(answer: Handler): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A host as far as a test needs one: discovery, and whatever is said for the rest. */
function startHost(answer: Handler = refuse): Promise<string> {
  return serve((request, response) => {
    if (request.url === '/.well-known/svc') discover(request, response);
    else answer(request, response);
  });
}

function discover(request: IncomingMessage, response: ServerResponse): void {
  const etag = '"1"';
  const head = { 'content-type': 'application/json', 'svc-version': '1.1', etag, vary: 'SVC-Version' };
  if (request.headers['if-none-match']?.includes(etag) === true) response.writeHead(304, head).end();
  else response.writeHead(200, { ...head, 'cache-control': 'public, max-age=300' }).end(JSON.stringify(DOCUMENT));
}

const DOCUMENT = {
  protocolVersion: '1.1',
  protocolVersions: ['1.1'],
  preferredVersion: '1.1',
  implementation: { name: 'small', version: '1', vendor: 'test' },
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 1, schemaRounds: 1, envelopesPerTurn: 1 },
};

function refuse(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: 'unauthenticated', message: 'Who are you?' });
  response.writeHead(401, { 'content-type': 'application/json', 'svc-version': '1.1' }).end(body);
}

async function run(
  args: readonly string[],
  { env = {}, colours = false }: { env?: Record<string, string>; colours?: boolean } = {},
) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const interrupted = new AbortController().signal;
  const code = await svcConformance(args, { stdout, stderr, env, colours, interrupted });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

describe('what it is told', () => {
  test('--help says what there is, and the keys with their variables', async () => {
    const { code, out } = await run(['--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('--other-tenant-key KEY    SVC_OTHER_TENANT_KEY: ')]);
  });

  test('--list lists every check, and as tables for a document', async () => {
    const { code, out } = await run(['--list']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^discovery\.public +1 2 {2}The discovery document/)]);
    expect((await run(['--list', '--markdown'])).out).toMatch(/^### discovery\n/);
  });

  test.each([
    ['no URL', [], /One URL is needed/],
    ['two URLs', ['http://a.invalid', 'http://b.invalid'], /One URL is needed/],
    ['no URL at all', ['host'], /must be the origin/],
    ['a URL with a path', ['http://127.0.0.1:1/v1'], /must be the origin/],
    ['a URL with a password', ['http://u:p@127.0.0.1:1'], /must be the origin/],
    ['an unknown option', ['http://127.0.0.1:1', '--unknown'], /--unknown/],
    ['an unknown check', ['http://127.0.0.1:1', '--only', 'discovery,none.such'], /no check or area none\.such/],
    ['a major that there is not', ['http://127.0.0.1:1', '--major', '3'], /--major must be 1 or 2/],
    ['a number that is none', ['http://127.0.0.1:1', '--timeout', 'soon'], /--timeout must be a whole number/],
    ['a receiver that is no URL', ['http://127.0.0.1:1', '--receiver-url', 'here'], /--receiver-url must be/],
    ['a configuration that is not there', ['--config', '/nowhere/at/all.json'], /cannot be read/],
    ['nobody at the URL', ['http://127.0.0.1:1', '--no-receiver'], /does not answer: .*ECONNREFUSED/],
  ])('%s is wrong use: exit code 2', async (_title, args, message) => {
    const { code, out, err } = await run(args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });

  test('a receiver that cannot listen is wrong use: exit code 2', async () => {
    const url = await startHost();
    const { code, err } = await run([url, '--receiver-port', new URL(url).port]);
    expect([code, err]).toEqual([2, expect.stringMatching(/cannot listen on port \d+ of 127\.0\.0\.1: .*EADDRINUSE/)]);
  });

  test('an interruption ends it in order: exit code 2', async () => {
    const interruption = new AbortController();
    const url = await startHost((_request, response) => {
      interruption.abort();
      setTimeout(() => response.end(), 50);
    });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const terminal = { stdout, stderr, env: {}, colours: false, interrupted: interruption.signal };
    expect(await svcConformance([url, '--no-receiver'], terminal)).toBe(2);
    expect(String(stdout.read())).toContain('skipped: the run was interrupted');
    expect(String(stderr.read())).toContain('interrupted; what was made is cleaned up');
  });

  test('something else at the URL is no host: exit code 2', async () => {
    const url = await serve((_request, response) => void response.end('<html>'));
    expect(await run([url, '--no-receiver'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no discovery document'),
    });
  });

  test('a configuration file says the same as options; arguments win over the environment, and that over the file', async () => {
    const seen = new Set<string | undefined>();
    const url = await startHost((request, response) => {
      seen.add(request.headers.authorization);
      refuse(request, response);
    });
    const config = join(folder, 'config.json');
    writeFileSync(
      config,
      JSON.stringify({ url, key: 'of-the-file', only: ['authentication.key-accepted'], 'no-receiver': true }),
    );
    for (const [args, env, key] of [
      [[], {}, 'of-the-file'],
      [[], { SVC_KEY: 'of-the-environment' }, 'of-the-environment'],
      [['--key', 'of-the-arguments'], { SVC_KEY: 'of-the-environment' }, 'of-the-arguments'],
    ] as const) {
      seen.clear();
      await run(['--config', config, ...args], { env });
      expect([...seen]).toContain(`Bearer ${key}`);
    }
    writeFileSync(config, JSON.stringify({ url, keys: {} }));
    expect(await run(['--config', config])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/config\.json: .*keys/),
    });
  });
});

describe('what it tells', () => {
  test('a host that keeps what is looked at: exit code 0, and what was not looked at is skipped with the reason', async () => {
    const { code, out } = await run([
      await startHost(),
      '--only',
      'discovery,authentication.expired-401',
      '--no-receiver',
    ]);
    expect(out).toContain('✓    discovery.public  The discovery document is readable without a credential, as JSON.');
    expect(out).toContain(
      '–    authentication.expired-401  skipped: no key was given: --expired-key or SVC_EXPIRED_KEY',
    );
    expect([code, out]).toEqual([0, expect.stringMatching(/\d+ passed, 0 failed, 0 warned, \d+ skipped/)]);
  });

  test('--fail-on-skipped takes what was skipped for a failure', async () => {
    const args = [await startHost(), '--only', 'authentication.expired-401', '--no-receiver'];
    expect([(await run(args)).code, (await run([...args, '--fail-on-skipped'])).code]).toEqual([0, 1]);
  });

  test('a rule that is not kept: exit code 1, with what was expected, what was seen, and a curl that shows it', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('oops'));
    const { code, out } = await run([url, '--only', 'authentication.challenge', '--no-receiver']);
    expect(code).toBe(1);
    expect(out).toContain('✗    authentication.challenge');
    expect(out).toContain('expected status 401');
    expect(out).toContain('seen     500 · oops');
    expect(out).toContain(`curl -sS -i '${url}/v1/runs/none'`);
  });

  test('a SHOULD that is not kept is a warning, and no failure', async () => {
    const url = await serve((_request, response) => {
      const head = { 'content-type': 'application/json', 'svc-version': '1.1' };
      response.writeHead(200, head).end(JSON.stringify(DOCUMENT));
    });
    const { code, out } = await run([url, '--only', 'discovery.cacheable', '--no-receiver']);
    expect([code, out]).toEqual([0, expect.stringMatching(/!.*discovery\.cacheable.*0 failed, 1 warned/s)]);
  });

  test('colours are for terminals', async () => {
    const args = [await startHost(), '--only', 'discovery', '--no-receiver'];
    expect((await run(args)).out).not.toContain('\u001b');
    expect((await run(args, { colours: true })).out).toContain('\u001b[32m✓\u001b[39m');
  });

  test('what a host sends cannot steer the terminal', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('\u001b[2J\u202e'));
    const { out } = await run([url, '--only', 'authentication.challenge', '--no-receiver']);
    expect(['\u001b', '\u202e'].filter((character) => out.includes(character))).toEqual([]);
    expect(out).toContain('\\u{1b}');
  });

  test('the same as JSON and as JUnit XML', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('<&"\u0000>'));
    const [json, junit] = [join(folder, 'report.json'), join(folder, 'report.xml')];
    const only = ['--only', 'discovery.public,authentication.challenge,authentication.expired-401'];
    await run([url, ...only, '--no-receiver', '--json', json, '--junit', junit]);
    const report = JSON.parse(readFileSync(json, 'utf8'));
    expect(report).toMatchObject({
      url,
      host: { name: 'small', protocolVersions: ['1.1'] },
      summary: { passed: 1, failed: 1, warned: 0, skipped: 1 },
    });
    expect(report.results.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome])).toEqual([
      ['discovery.public', 'passed'],
      ['authentication.expired-401', 'skipped'],
      ['authentication.challenge', 'failed'],
    ]);
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain('<testsuite name="authentication" tests="2" failures="1" errors="0" skipped="1"');
    expect(xml).toContain('500 · &lt;&amp;&quot;\u{FFFD}&gt;');
    expect(xml.match(/<testcase/g)).toHaveLength(3);
    const printed = await run([url, ...only, '--no-receiver', '--json', '-']);
    expect(JSON.parse(printed.out).results).toHaveLength(3);
  });

  test('a key is nowhere, even when the host repeats it', async () => {
    const url = await startHost((request, response) => {
      const head = { 'content-type': 'application/json', 'svc-version': '1.1' };
      const body = {
        error: 'unauthenticated',
        message: String(request.headers.authorization),
        secret: 'of-a-subscription',
      };
      response.writeHead(500, head).end(JSON.stringify(body));
    });
    const [json, junit] = [join(folder, 'keys.json'), join(folder, 'keys.xml')];
    const { out, err, code } = await run([url, '--no-receiver', '--key', KEY, '--json', json, '--junit', junit]);
    expect(code).toBe(1);
    expect(err).toMatch(/others on this machine can read --key/);
    const everything = [out, err, readFileSync(json, 'utf8'), readFileSync(junit, 'utf8')].join('\n');
    expect(everything).not.toContain(KEY);
    expect(everything).not.toContain('of-a-subscription');
    expect(everything).toContain('$SVC_KEY');
  });
});
