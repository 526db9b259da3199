import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRequest } from '../src/cli/capture.ts';
import { svcWebhook } from '../src/cli/command.ts';
import { wantsColours } from '../src/cli/terminal.ts';
import { Webhook } from '../src/index.ts';
import { signStandard, VERIFICATION_TYPE } from '../src/standard-webhooks/index.ts';
import { testDelivery } from '../src/testing/index.ts';

const secret = 'a-secret-of-the-tests';
const NOW = 1_700_000_000_000;
const now = () => NOW;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-webhook-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(content: string | Uint8Array): string {
  files += 1;
  const path = join(folder, String(files));
  writeFileSync(path, content);
  return path;
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command with a terminal of the tests. */
async function run(
  args: readonly string[],
  { stdin = '', env = { SVC_WEBHOOK_SECRET: secret }, colours = false, at = NOW } = {} as {
    stdin?: string;
    env?: Record<string, string>;
    colours?: boolean;
    at?: number;
  },
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await svcWebhook(args, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    env,
    colours,
    now: () => at,
    interrupted: new AbortController().signal,
  });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

/** Returns a delivery as it was on the wire. */
function captured(change: { headers?: Record<string, string>; body?: string } = {}, type = 'run.completed'): string {
  const { headers, body } = testDelivery({ secret, now, type });
  const lines = Object.entries({ Host: 'x', ...headers, ...change.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `POST /webhooks HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${change.body ?? body}`;
}

describe('verify', () => {
  test('passes every step for an authentic delivery', async () => {
    const { code, out } = await run(['verify'], { stdin: captured() });
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toEqual([
      '✓ headers         webhook whk_00000000000000000001, event type run.completed',
      '✓ timestamp       1700000000, 2023-11-14T22:13:20.000Z',
      '✓ freshness       0 s ago, within 300 s',
      '✓ algorithm       v1',
      '✓ signature form  sha256= and 64 digits',
      expect.stringMatching(/^✓ signature {7}by the secret with fingerprint [0-9a-f]{8}$/),
      '✓ body            run.completed, run run_00000000000000000001, sequence 1',
      'Authentic and fresh.',
    ]);
  });

  test.each([
    ['headers', captured({ headers: { 'SVC-Timestamp': '1' } }), /✗ headers .*contradict.*SVC-Timestamp/],
    ['timestamp', captured({ headers: { 'SVC-Timestamp': '1e9', 'X-svc-Timestamp': '1e9' } }), /✗ timestamp/],
    [
      'algorithm',
      captured({ headers: { 'SVC-Signature-Algorithm': 'v2', 'X-svc-Signature-Algorithm': 'v2' } }),
      /✗ alg/,
    ],
    ['signature form', captured({ headers: { 'SVC-Signature': 'x', 'X-svc-Signature': 'x' } }), /✗ signature form/],
    ['signature', captured({ body: '{}' }), /✗ signature {7}The secret does not give this signature/],
    ['body', captured({ headers: { 'SVC-Event-Type': 'a.b', 'X-svc-Event-Type': 'a.b' } }), /✗ body .*event-type/],
  ])('reports that the step "%s" failed', async (step, stdin, line) => {
    const { code, out } = await run(['verify'], { stdin });
    expect(code).toBe(1);
    expect(out).toMatch(line);
    expect(out).toContain(`Refused: ${step}.`);
    expect(out).not.toContain(secret);
  });

  test('checks the signature of a stale capture', async () => {
    const { code, out } = await run(['verify'], { stdin: captured(), at: NOW + 3_600_000 });
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/✗ freshness[^✗]*✓ signature {7}by[^✗]*Refused: freshness/s),
    ]);
    for (const at of ['signed', '1700000300']) {
      expect((await run(['verify', '--at', at], { stdin: captured(), at: NOW + 3_600_000 })).code).toBe(0);
    }
    const tolerant = await run(['verify', '--tolerance', '4000'], { stdin: captured(), at: NOW + 3_600_000 });
    expect(tolerant.code).toBe(0);
  });

  const { body } = testDelivery({ secret, now });
  const spoiled: [string, { body?: string; secret?: string }, RegExp][] = [
    ['an editor has added a newline', { body: `${body}\n` }, /without the final newline/],
    [
      'something has formatted the JSON',
      { body: JSON.stringify(JSON.parse(body), undefined, 2) },
      /written without spaces/,
    ],
    ['a byte order mark was added', { body: `\uFEFF${body}` }, /byte order mark/],
    ['the secret has white space around it', { secret: ` ${secret}` }, /has white space around it/],
  ];
  test.each(spoiled)('reports that %s', async (_title, { body: changed, secret: other = secret }, hint) => {
    const { code, out } = await run(['verify', '--secret-file', file(other)], {
      stdin: captured(changed === undefined ? {} : { body: changed }),
    });
    expect([code, out]).toEqual([1, expect.stringMatching(hint)]);
  });

  test('reports that the sender used the decoded secret as its key', async () => {
    const hex = 'ab'.repeat(32);
    const { createHmac } = await import('node:crypto');
    const digest = createHmac('sha256', Buffer.from(hex, 'hex')).update(`1700000000.${body}`).digest('hex');
    const signature = { 'SVC-Signature': `sha256=${digest}`, 'X-svc-Signature': `sha256=${digest}` };
    const { out } = await run(['verify', '--secret', hex], { stdin: captured({ headers: signature }) });
    expect(out).toMatch(/hexadecimal decoded; the sender must use the text/);
  });

  test('reads headers, as lines or JSON, and body from separate files', async () => {
    const { headers } = testDelivery({ secret, now });
    const lines = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
    for (const text of [lines, JSON.stringify(headers), JSON.stringify(Object.entries(headers))]) {
      expect((await run(['verify', '--headers', file(text), '--body', file(body)])).code).toBe(0);
    }
  });

  test('prints the steps as JSON', async () => {
    const { out } = await run(['verify', '--json', file(captured())]);
    expect(JSON.parse(out)[0]).toEqual({ name: 'headers', outcome: 'passed', note: expect.any(String) });
  });

  test('accepts several secrets', async () => {
    const args = ['verify', '--secret', 'another', '--secret', secret];
    expect((await run(args, { stdin: captured() })).code).toBe(0);
  });

  test('escapes control characters from the network', async () => {
    const { out } = await run(['verify'], { stdin: captured({ headers: { 'SVC-Webhook-Id': 'a\u001b[2Jb\u202e' } }) });
    expect(out).not.toContain('\u001b');
    expect(out).not.toContain('\u202e');
  });

  test('prints colours on a terminal only', async () => {
    expect((await run(['verify'], { stdin: captured() })).out).not.toContain('\u001b[');
    expect((await run(['verify'], { stdin: captured(), colours: true })).out).toContain('\u001b[32m✓');
  });
});

describe('sign', () => {
  const { body } = testDelivery({ secret, now });

  test('prints headers that verify', async () => {
    const { code, out } = await run(['sign', file(body), '--webhook-id', 'whk_1']);
    const headers = Object.fromEntries(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ')),
    );
    expect(code).toBe(0);
    expect(new Webhook(secret, { now }).verify(body, headers).webhookId).toBe('whk_1');
  });

  test('prints JSON for one header family and a given time', async () => {
    const { out } = await run(['sign', '--format', 'json', '--family', 'X-svc', '--timestamp', '1700000001'], {
      stdin: body,
    });
    const headers = JSON.parse(out);
    expect(Object.keys(headers).filter((name) => name.startsWith('SVC-'))).toEqual([]);
    expect(new Webhook(secret, { now }).verify(body, headers).timestamp).toBe(1_700_000_001);
  });

  test('prints a curl command that a shell runs unchanged', async () => {
    const path = file(body);
    const { out } = await run(['sign', path, '--format', 'curl', '--url', 'http://127.0.0.1:1/?a=1&b=2']);
    const parsed = spawnSync('sh', ['-c', out.replace(/^curl/, "printf '%s\\n'")], { encoding: 'utf8' }).stdout.split(
      '\n',
    );
    expect(parsed.slice(0, 6)).toEqual([
      ...['-sS', '-w', '%{http_code}\\n'],
      ...['http://127.0.0.1:1/?a=1&b=2', '--data-binary', `@${path}`],
    ]);
  });
});

describe('listen', () => {
  /** Starts the command, and returns access to its output so far. */
  async function listening(...args: readonly string[]) {
    const interruption = new AbortController();
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    let out = '';
    stdout.on('data', (chunk) => {
      out += chunk;
    });
    const ended = svcWebhook(['listen', '--port', '0', ...args], {
      stdin: Readable.from([]),
      stdout,
      stderr,
      env: { SVC_WEBHOOK_SECRET: secret },
      colours: false,
      now: Date.now,
      interrupted: interruption.signal,
    });
    await once(stdout, 'data');
    const url = /http:\/\/\S+/.exec(out)?.[0] ?? '';
    const end = async () => {
      interruption.abort();
      return ended;
    };
    return { url, end, printed: () => out };
  }

  test('verifies and prints deliveries until it is interrupted', async () => {
    const { url, end, printed } = await listening();
    const { body, headers } = testDelivery({
      secret,
      type: 'run.failed',
      payload: { error: { message: '\u001b[2J' } },
    });
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200);
    expect((await fetch(url, { method: 'POST', body: `${body} `, headers })).status).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect(await end()).toBe(0);
    expect(printed()).toContain('✓ 200 run.failed run run_00000000000000000001 sequence 1');
    expect(printed()).toContain('"message": "\\u001b[2J"');
    expect(printed()).toContain('✗ 401 / signature_mismatch: ');
    expect(printed()).not.toContain('\u001b');
  });

  test('omits the payload with --quiet', async () => {
    const { url, end, printed } = await listening('--quiet');
    await fetch(url, testDelivery({ secret }));
    await end();
    expect(printed()).toContain('✓ 200 run.completed');
    expect(printed()).not.toContain('payload');
  });

  test('answers the endpoint verification, and verifies the three headers, with --standard', async () => {
    const own = `whsec_${'A'.repeat(32)}`;
    const { url, end, printed } = await listening('--standard', '--quiet', '--secret', own);
    const post = (body: string, headers: object = {}) => {
      const timestamp = Math.floor(Date.now() / 1000);
      const signature = signStandard({ body, secret: own, id: 'msg_1', timestamp });
      return fetch(url, { method: 'POST', body, headers: { ...signature, ...headers } });
    };
    const answer = await post(JSON.stringify({ type: VERIFICATION_TYPE, challenge: 'a'.repeat(43) }));
    expect([answer.status, await answer.json()]).toEqual([200, { challenge: 'a'.repeat(43) }]);
    const { body } = testDelivery({ secret });
    expect((await post(body, { 'SVC-Webhook-Id': 'whk_1' })).status).toBe(200);
    expect((await post(body, { 'SVC-Webhook-Id': 'whk_1', 'webhook-id': 'msg_2' })).status).toBe(401);
    expect((await fetch(url, testDelivery({ secret }))).status).toBe(400);
    await end();
    expect(printed()).toMatch(
      /✓ 200 the verification of this endpoint.*✓ 200 run.completed.*✗ 401 .*signature_mismatch/s,
    );
    expect(printed()).not.toContain(own);
  });

  test('forwards bytes and headers unchanged, and returns the status, with --forward', async () => {
    let received: { readonly headers: IncomingMessage['headers']; readonly body: Buffer } | undefined;
    const target = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      received = { headers: request.headers, body: Buffer.concat(chunks) };
      response.writeHead(503).end();
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const { port } = target.address() as AddressInfo;
    const { url, end, printed } = await listening('--forward', `http://127.0.0.1:${port}/hook?x=1`);
    const { body, headers } = testDelivery({ secret, payload: { text: '☃' } });
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(503);
    expect(new Webhook(secret).verify(received?.body ?? '', received?.headers ?? {}).runId).toBe(
      'run_00000000000000000001',
    );
    expect(received?.headers['content-type']).toBe('application/json');
    received = undefined;
    expect((await fetch(url, { method: 'POST', body: '{}', headers })).status).toBe(401);
    expect(received).toBeUndefined();
    target.close();
    target.closeAllConnections();
    expect((await fetch(url, testDelivery({ secret }))).status).toBe(502);
    await end();
    expect(printed()).toContain('! 503 run.completed');
  });

  test('reports that it cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { code, err } = await run(['listen', '--port', String(port)]);
    expect([code, err]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
    taken.close();
  });
});

describe('wrong use exits with 2 and an explanation', () => {
  test.each([
    [[], /Usage/],
    [['shine'], /no command "shine".*Usage/s],
    [['verify', '--colour'], /--colour/],
    [['verify', 'a', 'b'], /one FILE/],
    [['verify', '/nonexistent'], /\/nonexistent: cannot be read \(ENOENT\)/],
    [['verify', '--headers', '/nonexistent'], /--headers, --body: one is missing/],
    [['verify', '--at', 'noon'], /--at: must be/],
    [['verify', '--secret-file', '/nonexistent'], /--secret-file: /],
    [['sign', '--family', 'C'], /SVC, X-svc or both/],
    [['sign', '--family', 'constructor'], /SVC, X-svc or both/],
    [['sign', '--format', 'xml'], /format/],
    [['sign', '--timestamp', '-1'], /timestamp/],
    [['sign', '--secret', 'a', '--secret', 'b'], /the one secret to sign with/],
    [['sign'], /--event-type/],
    [['listen', '--port', '65536'], /0 to 65535/],
    [['listen', '--forward', 'ftp://x/'], /http or https/],
    [['listen', '--standard', '--secret', 'x'], /whsec_ followed by/],
  ])('%j', async (args, message) => {
    const { code, out, err } = await run(args, { stdin: '{}' });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err).not.toContain(secret);
  });

  test('names the ways to pass a secret when there is none', async () => {
    const { code, err } = await run(['verify'], { env: {}, stdin: captured() });
    expect([code, err]).toEqual([2, expect.stringMatching(/SVC_WEBHOOK_SECRET.*--secret-file/s)]);
  });
});

describe('help', () => {
  test.each([['--help'], ['help'], ['-h']])('%s lists the commands', async (name) => {
    expect(await run([name])).toMatchObject({ code: 0, out: expect.stringMatching(/verify.*sign.*listen/s), err: '' });
  });

  test.each(['verify', 'sign', 'listen'])('%s --help explains its options', async (name) => {
    const { code, out } = await run([name, '--help'], { env: {} });
    expect([code, out]).toEqual([0, expect.stringMatching(/Usage: svc-webhook.*--secret-file.*Exit code/s)]);
  });
});

describe('the built program', () => {
  const program = fileURLToPath(new URL('../dist/for-node/cli/main.js', import.meta.url));

  test('reads a pipe, prints without colours, and returns the exit code', () => {
    const stale = captured();
    const { status, stdout } = spawnSync(process.execPath, [program, 'verify', '--at', 'signed'], {
      input: stale,
      encoding: 'utf8',
      // No settings of the terminal that the tests run in.
      env: { PATH: process.env.PATH, SVC_WEBHOOK_SECRET: secret },
    });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Authentic and fresh.')]);
    expect(stdout).not.toContain('\u001b');
    const refused = spawnSync(process.execPath, [program, 'verify', '--secret', 'x'], { input: stale });
    expect(refused.status).toBe(1);
    expect(spawnSync(process.execPath, [program]).status).toBe(2);
  });

  test('listens until it is interrupted', async () => {
    const child = spawn(process.execPath, [program, 'listen', '--port', '0', '--secret', secret]);
    const [line] = await once(child.stdout, 'data');
    const url = /http:\/\/\S+/.exec(String(line))?.[0] ?? '';
    expect((await fetch(url, testDelivery({ secret }))).status).toBe(200);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('exits with 0 when the reader closes the pipe', () => {
    const { status, stderr } = spawnSync('sh', ['-c', `"${process.execPath}" "${program}" --help | true; echo done`], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });

  test('is executable', () => {
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});

test('verify rejects a Standard Webhooks signature', async () => {
  const body = '{}';
  const headers = signStandard({ body, secret: `whsec_${'A'.repeat(32)}`, id: 'm', timestamp: 1_700_000_000 });
  const { code, out } = await run(['verify', '--headers', file(JSON.stringify(headers)), '--body', file(body)]);
  expect([code, out]).toEqual([1, expect.stringMatching(/✗ headers .*SVC-Webhook-Id/)]);
});

describe('a captured request', () => {
  test.each([
    ['CRLF throughout', 'A: 1\r\nB: 2\r\n\r\n'],
    ['LF throughout', 'A: 1\nB: 2\n\n'],
    ['LF headers and a CRLF blank line', 'A: 1\nB: 2\n\r\n'],
    ['CRLF headers and an LF blank line', 'A: 1\r\nB: 2\r\n\n'],
    ['mixed headers', 'A: 1\r\nB: 2\n\r\n'],
  ])('may have %s', (_title, head) => {
    for (const body of ['{}\r\n\r\n', '\n\n{}', '', '\r\n']) {
      const capture = parseRequest(Buffer.from(head + body));
      expect(capture.headers).toEqual([
        ['A', '1'],
        ['B', '2'],
      ]);
      expect(Buffer.from(capture.body).toString()).toBe(body);
    }
  });

  test('may have no body', () => {
    expect(parseRequest(Buffer.from('A: 1\r\nB: 2')).body).toHaveLength(0);
  });
});

test.each<[Record<string, string>, boolean, boolean]>([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
])('colours with %j, on a terminal: %s, are %s', (env, isTerminal, expected) => {
  expect(wantsColours(env, isTerminal)).toBe(expected);
});
