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

/** Starts a host that serves discovery, and `answer` for every other request. */
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

describe('the arguments', () => {
  test('--help prints the options, and each key with its environment variable', async () => {
    const { code, out } = await run(['--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('--other-tenant-key KEY    SVC_OTHER_TENANT_KEY: ')]);
  });

  test('--list prints every check, and with --markdown as tables', async () => {
    const { code, out } = await run(['--list']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^discovery\.public +1 2 {2}The discovery document/)]);
    expect((await run(['--list', '--markdown'])).out).toMatch(/^### discovery\n/);
  });

  test.each([
    ['no URL', [], /URL: exactly one is required/],
    ['two URLs', ['http://a.invalid', 'http://b.invalid'], /URL: exactly one is required/],
    ['a host name without a scheme', ['host'], /must be the origin/],
    ['a URL with a path', ['http://127.0.0.1:1/v1'], /must be the origin/],
    ['a URL with a password', ['http://u:p@127.0.0.1:1'], /must be the origin/],
    ['an unknown option', ['http://127.0.0.1:1', '--unknown'], /--unknown: is not an option/],
    ['an option without its value', ['http://127.0.0.1:1', '--json'], /--json: needs a value/],
    [
      'a value that an option does not take',
      ['http://127.0.0.1:1', '--no-receiver=yes'],
      /--no-receiver: does not take/,
    ],
    ['a port that does not exist', ['http://127.0.0.1:1', '--receiver-port', '99999'], /receiver: cannot listen/],
    [
      'an unknown check',
      ['http://127.0.0.1:1', '--only', 'discovery,none.such'],
      /only: there is no check or area none\.such/,
    ],
    ['an unknown major', ['http://127.0.0.1:1', '--major', '3'], /--major: must be 1 or 2/],
    ['a word for a number', ['http://127.0.0.1:1', '--timeout', 'soon'], /--timeout: must be a whole number/],
    ['a receiver URL that is not a URL', ['http://127.0.0.1:1', '--receiver-url', 'here'], /--receiver-url: must be/],
    ['a missing configuration file', ['--config', '/nowhere/at/all.json'], /cannot be read/],
    ['a URL that does not respond', ['http://127.0.0.1:1', '--no-receiver'], /does not respond: .*ECONNREFUSED/],
  ])('exits with 2 and a message for %s', async (_title, args, message) => {
    const { code, out, err } = await run(args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });

  test('exits with 2 when the receiver cannot listen', async () => {
    const url = await startHost();
    const { code, err } = await run([url, '--receiver-port', new URL(url).port]);
    expect([code, err]).toEqual([2, expect.stringMatching(/cannot listen on port \d+ of 127\.0\.0\.1 .*EADDRINUSE/)]);
  });

  test('cleans up and exits with 2 when it is interrupted', async () => {
    const interruption = new AbortController();
    const url = await startHost((_request, response) => {
      interruption.abort();
      setTimeout(() => response.end(), 50);
    });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const terminal = { stdout, stderr, env: {}, colours: false, interrupted: interruption.signal };
    expect(await svcConformance([url, '--no-receiver'], terminal)).toBe(2);
    expect(String(stdout.read())).toContain('skipped: the run was interrupted');
    expect(String(stderr.read())).toContain('interrupted. Runs and subscriptions of the suite were cleaned up');
  });

  test('exits with 2 when the URL serves no discovery document', async () => {
    const url = await serve((_request, response) => void response.end('<html>'));
    expect(await run([url, '--no-receiver'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not a discovery document'),
    });
  });

  test('prefers arguments over the environment, and the environment over the configuration file', async () => {
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
      err: expect.stringMatching(/config\.json is not valid .*keys/),
    });
  });
});

describe('the reports', () => {
  test('exits with 0 when no check failed, and prints the reason of each skip', async () => {
    const { code, out } = await run([
      await startHost(),
      '--only',
      'discovery,authentication.expired-401',
      '--no-receiver',
    ]);
    expect(out).toContain(
      '✓    discovery.public  The discovery document is served as JSON to a request without a credential.',
    );
    expect(out).toContain('–    authentication.expired-401  skipped: --expired-key or SVC_EXPIRED_KEY is not set');
    expect([code, out]).toEqual([0, expect.stringMatching(/\d+ passed, 0 failed, 0 warned, \d+ skipped/)]);
  });

  test('--fail-on-skipped exits with 1 when a check was skipped', async () => {
    const args = [await startHost(), '--only', 'authentication.expired-401', '--no-receiver'];
    expect([(await run(args)).code, (await run([...args, '--fail-on-skipped'])).code]).toEqual([0, 1]);
  });

  test('exits with 1 when a check failed, and prints what was expected, what was seen and a curl command', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('oops'));
    const { code, out } = await run([url, '--only', 'authentication.challenge', '--no-receiver']);
    expect(code).toBe(1);
    expect(out).toContain('✗    authentication.challenge');
    expect(out).toContain('expected status 401');
    expect(out).toContain('seen     500 · oops');
    expect(out).toContain(`curl -sS -i '${url}/v1/runs/none'`);
  });

  test('exits with 0 when only a SHOULD is broken, and prints it as a warning', async () => {
    const url = await serve((_request, response) => {
      const head = { 'content-type': 'application/json', 'svc-version': '1.1' };
      response.writeHead(200, head).end(JSON.stringify(DOCUMENT));
    });
    const { code, out } = await run([url, '--only', 'discovery.cacheable', '--no-receiver']);
    expect([code, out]).toEqual([0, expect.stringMatching(/!.*discovery\.cacheable.*0 failed, 1 warned/s)]);
  });

  test('colours are printed to terminals alone', async () => {
    const args = [await startHost(), '--only', 'discovery', '--no-receiver'];
    expect((await run(args)).out).not.toContain('\u001b');
    expect((await run(args, { colours: true })).out).toContain('\u001b[32m✓\u001b[39m');
  });

  test('control characters from the host are escaped', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('\u001b[2J\u202e'));
    const { out } = await run([url, '--only', 'authentication.challenge', '--no-receiver']);
    expect(['\u001b', '\u202e'].filter((character) => out.includes(character))).toEqual([]);
    expect(out).toContain('\\u{1b}');
  });

  test('--json and --junit write the report to files', async () => {
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

  test('no report contains a key, even when the host repeats it', async () => {
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
    expect(err).toMatch(/--key: other users of this machine can read arguments/);
    const everything = [out, err, readFileSync(json, 'utf8'), readFileSync(junit, 'utf8')].join('\n');
    expect(everything).not.toContain(KEY);
    expect(everything).not.toContain('of-a-subscription');
    expect(everything).toContain('$SVC_KEY');
  });
});
