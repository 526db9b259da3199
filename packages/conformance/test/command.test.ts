import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { svcConformance } from '../src/cli/command.ts';
import { CHECKS, FIXTURES } from '../src/index.ts';

const KEY = 'a-key-that-no-report-may-show';

const DISCOVERY_CHECKS = CHECKS.filter(({ id, majors }) => id.startsWith('discovery.') && majors.includes(1)).length;

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

  test('--fail-on-skipped exits with 1 when a check was skipped that is not expected', async () => {
    const args = [await startHost(), '--only', 'discovery.public,authentication.expired-401', '--no-receiver'];
    const expected = join(folder, 'expected-skips.json');
    writeFileSync(expected, JSON.stringify(['authentication.expired-401', 'runs.fails']));
    const strict = await run([...args, '--fail-on-skipped']);
    const permitted = await run([...args, '--fail-on-skipped', '--expected-skips', expected]);
    expect([(await run(args)).code, strict.code, permitted.code]).toEqual([0, 1, 0]);
    expect(strict.err).toContain(
      'authentication.expired-401@1 was skipped: --expired-key or SVC_EXPIRED_KEY is not set.',
    );
    expect(permitted.err).toContain('runs.fails is listed as expected, and no longer occurs.');
  });

  test.each([
    ['no check ran', ['--only', 'authentication.expired-401'], /Looked at less than required:\n {2}no check ran\n/],
    ['the host lacks the major', ['--only', 'discovery', '--major', '2'], /the host does not advertise major 2/],
    [
      'the host lacks a capability',
      ['--only', 'discovery', '--profile', 'webhooks'],
      /profile webhooks, the host does not advertise webhooks\n/,
    ],
    [
      'the host serves one major',
      ['--only', 'discovery', '--profile', 'versions'],
      /the host advertises one major alone/,
    ],
  ])('exits with 3 when %s', async (_why, args, shown) => {
    const { code, out } = await run([await startHost(), '--no-receiver', ...args]);
    expect([code, out]).toEqual([3, expect.stringMatching(shown)]);
  });

  test('without a key, the profile core is not looked at; --profile none requires nothing', async () => {
    const url = await startHost();
    const args = [url, '--no-receiver', '--only', 'discovery.public,runs.completes,runs.fails'];
    expect(await run([...args, '--profile', 'core'])).toMatchObject({
      code: 3,
      out: expect.stringMatching(/profile core, --key or SVC_KEY is not set: 2 checks\n/),
    });
    expect((await run([...args, '--profile', 'none'])).code).toBe(0);
    expect(await run([...args, '--profile', 'cores'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--profile: there is no profile cores. Choose from core, runs, versions,'),
    });
  });

  test('a key that the host rejects ends with one sentence and 2', async () => {
    const { code, out, err } = await run([await startHost(), '--no-receiver'], { env: { SVC_KEY: KEY } });
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/SVC_KEY\): the host rejects the key with 401/)]);
    expect(err).not.toContain(KEY);
  });

  test('--baseline leaves out known failures, and names those that are mended', async () => {
    const broken = await startHost((_request, response) => void response.writeHead(500).end('oops'));
    const json = join(folder, 'baseline.json');
    const only = ['--only', 'authentication.challenge,discovery.public', '--no-receiver'];
    expect((await run([broken, ...only, '--json', json])).code).toBe(1);
    const again = await run([broken, ...only, '--baseline', json]);
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('1 failures are in the baseline')]);
    const report = JSON.parse(readFileSync(json, 'utf8'));
    report.results[0].outcome = 'failed';
    writeFileSync(json, JSON.stringify(report));
    expect((await run([broken, ...only, '--baseline', json])).err).toContain(
      'discovery.public@1 is listed as expected, and no longer occurs.',
    );
    writeFileSync(json, '{}');
    expect(await run([broken, ...only, '--baseline', json])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is no report of this suite'),
    });
  });

  test('--failures-only leaves out what passed, and --github prints annotations', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('a,b:c%\n'));
    const args = [url, '--only', 'discovery.public,authentication.challenge', '--no-receiver'];
    const { out, err } = await run([...args, '--failures-only', '--github']);
    expect(out).not.toContain('discovery.public');
    expect(out).toMatch(/ {2}✗ authentication\.challenge \(major 1\), ruling\n$/);
    expect(err).toMatch(
      /^::error title=authentication\.challenge \(major 1\)::expected status 401%0Aseen 500 · a,b:c%25%0A\n$/,
    );
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

  test('a failure names the section, the source and the requirement of its rule, and the report its coverage', async () => {
    const url = await startHost((_request, response) => void response.writeHead(500).end('oops'));
    const { out } = await run([url, '--only', 'authentication.challenge', '--no-receiver']);
    expect(out).toContain('rule     Authentication (ruling), auth.challenge.every-401');
    expect(out).toMatch(/^Looked at 1 of \d+ checks and 1 of \d+ requirements: interface 0 of \d+, ruling 1 of \d+,/m);
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

  test('--html writes one page that escapes text of the host, and loads and runs nothing', async () => {
    const html = join(folder, 'report.html');
    const hostile = `</pre><script>alert(1)</script><img src="x" onerror='y'>\u0007\u202e&`;
    const url = await startHost((_request, response) => void response.writeHead(500).end(hostile));
    await run([url, '--only', 'discovery.public,authentication.challenge', '--no-receiver', '--html', html]);
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=&quot;x&quot;');
    expect(page).toContain('onerror=&#39;y&#39;&gt;\\u{7}\\u{202e}&amp;');
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page.match(/<(script|img|link|iframe|object)\b|\b(href|src|on[a-z]+)="/g)).toBeNull();
    expect(page).toContain('<h3 class="failed">authentication.challenge, major 1</h3>');
  });

  test('--json shows the options and the coverage, and names the keys', async () => {
    const args = [await startHost(), '--only', 'discovery', '--no-receiver', '--json', '-', '--major', '1'];
    const { out } = await run([...args, '--workflow', 'conformance-noop=mine#here', '--keep-alive-ms', '1000']);
    const { options, coverage } = JSON.parse(out);
    expect(options).toEqual({
      keys: [],
      majors: [1],
      only: ['discovery'],
      profilesOnly: false,
      workflows: { 'conformance-noop': { id: 'mine', node: 'here' } },
      artifactWorkflow: false,
      receiver: false,
      durations: { keepAliveMs: 1000 },
    });
    const { discovery, runs } = coverage.areas;
    expect([runs.ran, discovery.of]).toEqual([0, DISCOVERY_CHECKS]);
    expect(coverage.checks.ran).toBe(discovery.ran);
    expect(coverage.sources.interface.of + coverage.sources.ruling.of + coverage.sources.fact.of).toBeLessThanOrEqual(
      coverage.checks.of,
    );
  });

  test('--bundle writes a signed report that --verify accepts, and --badge a badge', async () => {
    const [key, bundle, badge] = ['key.pem', 'bundle.json', 'badge.svg'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(key, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const args = [
      await startHost(),
      '--only',
      'discovery.public',
      '--no-receiver',
      '--profile',
      'core',
      '--badge',
      badge,
    ];
    const made = await run([...args, '--bundle', bundle, '--signing-key', key, '--key-id', 'ours']);
    const [, publicKey = ''] = /whose public key is ([\w-]{43})\./.exec(made.err) ?? [];
    const verify = ['--verify', bundle, '--public-key', `ours=${publicKey}`];
    expect(await run(verify)).toMatchObject({
      // One check of the profile was run, so the bundle is genuine and shows no conforming host.
      code: 1,
      out: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+ does not conform\n[\s\S]*signed with ours\n$/),
    });
    expect([made.code, readFileSync(badge, 'utf8')]).toEqual([
      3,
      expect.stringContaining('svc conformance: incomplete'),
    ]);
    writeFileSync(bundle, readFileSync(bundle, 'utf8').replace('"name": "small"', '"name": "large"'));
    expect(await run(verify)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('does not fit its content'),
    });
    for (const [wrong, message] of [
      [['--verify', bundle], /needs a key that you trust/],
      [['--verify', bundle, '--public-key', 'ours'], /must be ID=KEY/],
      [['--verify', join(folder, 'none'), '--public-key', `ours=${publicKey}`], /cannot be read/],
      [[...verify, 'http://127.0.0.1:1'], /takes a file and --public-key/],
      [[...args, '--bundle', bundle], /needs a key\. Pass --signing-key FILE and --key-id ID/],
      [[...args, '--bundle', bundle, '--signing-key', badge, '--key-id', 'ours'], /must be an Ed25519 private key/],
    ] as const) {
      expect(await run(wrong)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    }
  });

  test('--fixtures prints a description of each fixture workflow', async () => {
    const { code, out } = await run(['--fixtures']);
    expect([code, JSON.parse(out)]).toEqual([0, FIXTURES]);
  });

  test.each([
    ['without an id', 'conformance-noop', /is not NAME=ID/],
    ['with an empty id', 'conformance-noop=', /is not NAME=ID/],
    ['of an unknown fixture', 'noop=mine', /there is no fixture noop\. Choose from conformance-noop, /],
    ['of an inherited name', 'toString=mine', /there is no fixture toString/],
  ])('--workflow %s exits with 2', async (_why, workflow, message) => {
    const { code, err } = await run(['http://127.0.0.1:1', '--workflow', workflow]);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
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
    const [json, junit, html] = ['keys.json', 'keys.xml', 'keys.html'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const files = ['--json', json, '--junit', junit, '--html', html];
    const { out, err, code } = await run([url, '--no-receiver', '--key', KEY, ...files]);
    expect(code).toBe(1);
    expect(err).toMatch(/--key: other users of this machine can read arguments/);
    const everything = [out, err, ...[json, junit, html].map((path) => readFileSync(path, 'utf8'))].join('\n');
    expect(everything).not.toContain(KEY);
    expect(everything).not.toContain('of-a-subscription');
    expect(everything).toContain('$SVC_KEY');
  });
});
