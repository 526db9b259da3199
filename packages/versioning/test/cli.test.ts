import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { svcVersioning } from '../src/cli/command.ts';
import { negotiate, served } from '../src/index.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-versioning-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function path(content?: string): string {
  files += 1;
  const name = join(folder, String(files));
  if (content !== undefined) writeFileSync(name, content);
  return name;
}

async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await svcVersioning(args, { stdout, stderr, fetch });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

describe(`engine-version: ${covers('versioning.axes.engine-version-migration')}`, () => {
  test('converts the strings in JSON lines to integers, and changes nothing else', async () => {
    const lines = [
      '{"runId":"a","engineVersion":"7","inputs":{"engineVersion":"mine"}}',
      '{"runId":"b",  "engineVersion": 7}',
      '',
      '{"runId":"c","events":[{"engineVersion":"3","payload":{"engineVersion":"4","x":"5"}}]}',
      '{"runId":"d"}',
    ];
    const input = path(`${lines.join('\n')}\n`);
    const output = path();
    expect(await run('engine-version', input, output)).toMatchObject({ code: 0, out: '5 documents, 2 changed\n' });
    expect(readFileSync(output, 'utf8').split('\n')).toEqual([
      '{"runId":"a","engineVersion":7,"inputs":{"engineVersion":"mine"}}',
      lines[1],
      '',
      '{"runId":"c","events":[{"engineVersion":3,"payload":{"engineVersion":4,"x":"5"}}]}',
      lines[4],
      '',
    ]);
    expect(readFileSync(input, 'utf8')).toBe(`${lines.join('\n')}\n`);
  });

  test('converts a document and a list of documents', async () => {
    for (const [text, expected] of [
      ['{\n  "engineVersion": "1"\n}', { engineVersion: 1 }],
      ['[\n  {"engineVersion": "1"}, {"engineVersion": 2}\n]', [{ engineVersion: 1 }, { engineVersion: 2 }]],
    ] as const) {
      const output = path();
      expect((await run('engine-version', path(text), output)).code).toBe(0);
      expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual(expected);
    }
  });

  test.each(['"1.0"', '"01"', '"-1"', '""', '"latest"', '1.5', '-1', 'null', '{}'])(
    'rejects %s and names its file, line and value',
    async (value) => {
      const input = path(`{"engineVersion":"1"}\n{"engineVersion":${value}}\n`);
      const { code, err } = await run('engine-version', input, path());
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`${input}:2: engineVersion is ${value}, not an integer`),
      ]);
    },
  );

  test('rejects malformed JSON and names its line', async () => {
    const input = path('{"engineVersion":"1"}\n{oops}\n');
    expect(await run('engine-version', input, path())).toMatchObject({
      code: 1,
      err: `${input}:2: is not valid JSON. Repair it and run again.\n`,
    });
  });

  test('writes only a new file, and resumes an interrupted one', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `{"runId":"${index}","engineVersion":"${index}"}`);
    const input = path(`${lines.join('\n')}\n`);
    const whole = path();
    await run('engine-version', input, whole);
    const expected = readFileSync(whole, 'utf8');
    expect(await run('engine-version', input, whole)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--resume'),
    });
    for (const cut of [0, 1, 40, 100_000, expected.length - 3]) {
      const output = path(expected.slice(0, cut));
      expect((await run('engine-version', input, output, '--resume')).code).toBe(0);
      expect(readFileSync(output, 'utf8')).toBe(expected);
    }
  });

  test.each([[[]], [['a']], [['/nonexistent', 'b']], [['a', 'b', 'c']], [['a', 'b', '--colour']]])(
    'rejects the arguments %j',
    async (args) => {
      expect((await run('engine-version', ...args)).code).toBe(2);
    },
  );
});

describe('check', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Starts a host that keeps every rule, except the one that `breakIt` violates. */
  async function host(
    options: { versions: string[]; preferred: string },
    breakIt: (
      answer: { status: number; headers: Record<string, string>; body: object },
      target: string,
      version?: string,
    ) => void = () => {},
  ): Promise<string> {
    const protocol = served({ ...options, minClientVersion: '1.0' });
    const server = createServer((request, response) => {
      const target = request.url ?? '';
      const found = negotiate({ method: request.method ?? '', target, headers: request.headers }, protocol);
      const answer = { status: 404, headers: {} as Record<string, string>, body: {} as object };
      if (found.kind !== 'foreign') answer.headers['SVC-Version'] = found.contract;
      if (found.kind === 'refused') {
        Object.assign(answer, {
          status: found.error.status,
          body: { error: found.error.code, details: found.error.details },
        });
      } else if (found.kind === 'operation' && found.operation.operationId === 'discovery') {
        const etag = `"${found.major}"`;
        Object.assign(answer.headers, { etag, vary: 'SVC-Version' });
        answer.status = request.headers['if-none-match'] === etag ? 304 : 200;
        answer.body = {
          protocolVersions: options.versions,
          preferredVersion: options.preferred,
          minClientVersion: '1.0',
        };
      } else if (found.kind === 'operation') answer.status = 401;
      breakIt(answer, target, request.headers['svc-version'] as string | undefined);
      response.writeHead(answer.status, answer.headers).end(answer.status === 304 ? '' : JSON.stringify(answer.body));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const BOTH = { versions: ['1.1', '2.0'], preferred: '1.1' };

  test.each([BOTH, { versions: ['2.0'], preferred: '2.0' }, { versions: ['1.1'], preferred: '1.1' }])(
    'finds no violation in a host of %j',
    async (options) => {
      const { code, out } = await run('check', await host(options));
      expect([code, out]).toEqual([0, expect.stringMatching(/Every rule is kept\.\n$/)]);
    },
  );

  test.each([
    [
      'a missing stamp',
      /✗ .*304.*stamped/,
      (answer: { status: number; headers: Record<string, string> }) => {
        if (answer.status === 304) delete answer.headers['SVC-Version'];
      },
    ],
    [
      '500 for a malformed header',
      /✗ SVC-Version: x answers 406/,
      (answer: { status: number }, _target: string, version?: string) => {
        if (version === 'x') answer.status = 500;
      },
    ],
    [
      'a weak tag',
      /✗ .*strong ETag: W\//,
      (answer: { headers: Record<string, string> }) => {
        if (answer.headers.etag !== undefined) answer.headers.etag = 'W/"1"';
      },
    ],
    [
      'an operation that is served under one major only',
      /✗ .*operations are served alike.*: createRun only under 1/,
      (answer: { status: number }, target: string, version?: string) => {
        if (target === '/runs' && version === '2') answer.status = 404;
      },
    ],
    [
      'a /v2 space',
      /✗ there is no \/v2/,
      (answer: { status: number }, target: string) => {
        if (target.startsWith('/v2')) answer.status = 200;
      },
    ],
  ])('finds %s', async (_title, line, breakIt) => {
    const { code, out } = await run('check', await host(BOTH, breakIt as never));
    expect([code, out]).toEqual([1, expect.stringMatching(line)]);
  });

  test('prints the findings as JSON', async () => {
    const { out } = await run('check', '--json', await host(BOTH));
    expect(JSON.parse(out)[0]).toEqual({ rule: 'discovery answers', ok: true, note: '' });
  });

  test.each([[[]], [['nonsense']], [['http://127.0.0.1:1']], [['http://127.0.0.1:1', '--timeout', 'x']]])(
    'rejects the arguments %j',
    async (args) => {
      expect((await run('check', ...args)).code).toBe(2);
    },
  );
});

test('prints help', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, out: expect.stringMatching(/engine-version.*check/s) });
  expect(await run('check', '--help')).toMatchObject({ code: 0, out: expect.stringMatching(/Usage.*Exit code/s) });
  expect(await run('shine')).toMatchObject({ code: 2, err: expect.stringContaining('unknown command "shine"') });
});

test('the built program starts', () => {
  const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  expect(spawnSync(process.execPath, [program, '--help']).status).toBe(0);
  expect(spawnSync(process.execPath, [program]).status).toBe(2);
});
