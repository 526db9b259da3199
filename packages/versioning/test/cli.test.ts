import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { svcVersioning } from '../src/cli/command.ts';
import { negotiate, served } from '../src/index.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-versioning-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Texts that a conversion by `JSON.parse` and `JSON.stringify` would damage. */
const KEPT: readonly { readonly what: string; readonly input: string; readonly output: string }[] = [
  {
    what: 'numbers that JavaScript cannot hold, and repeated names',
    input: '{"engineVersion":"7","outputs":{"total":12345678901234567890,"e":1E400,"dup":1,"dup":2,"x":-0.10}}\n',
    output: '{"engineVersion":7,"outputs":{"total":12345678901234567890,"e":1E400,"dup":1,"dup":2,"x":-0.10}}\n',
  },
  {
    what: '__proto__',
    input: '{"__proto__":{"a":1},"engineVersion":"7"}',
    output: '{"__proto__":{"a":1},"engineVersion":7}',
  },
  {
    what: 'white space',
    input: ' {\t"engineVersion" :  "7" ,"a" : [ ] }\r\n',
    output: ' {\t"engineVersion" :  7 ,"a" : [ ] }\r\n',
  },
  {
    what: 'U+2028 and U+2029 in a string end no line',
    input: '{"engineVersion":"7"}\n{"engineVersion":"8","a":"one\u2028two\u2029three"}\n',
    output: '{"engineVersion":7}\n{"engineVersion":8,"a":"one\u2028two\u2029three"}\n',
  },
  {
    what: 'an engineVersion of the workflow, in a payload or below it',
    input:
      '{"engineVersion":"7","events":[{"type":"node.completed","payload":{"engineVersion":"3","event":{"engineVersion":"v8-beta"}}}]}',
    output:
      '{"engineVersion":7,"events":[{"type":"node.completed","payload":{"engineVersion":"3","event":{"engineVersion":"v8-beta"}}}]}',
  },
  {
    what: 'brackets, quotes and escapes in strings',
    input: '{"a":"}]\\"\\\\","engine\\u0056ersion":"7","b":["{","\\\\\\""]}',
    output: '{"a":"}]\\"\\\\","engine\\u0056ersion":7,"b":["{","\\\\\\""]}',
  },
  {
    what: 'a repeated engineVersion, each of which is converted',
    input: '{"engineVersion":"7","engineVersion":"8"}',
    output: '{"engineVersion":7,"engineVersion":8}',
  },
  {
    what: 'a delivery body, and an event as a document',
    input: '{"runId":"r","event":{"engineVersion":"7"}}\n{"type":"run.started","payload":{"engineVersion":"7"}}\n',
    output: '{"runId":"r","event":{"engineVersion":7}}\n{"type":"run.started","payload":{"engineVersion":7}}\n',
  },
  {
    what: 'a document over several lines',
    input: '[\n  {"engineVersion": "1", "n": 1.0},\n  {"engineVersion": 2}\n]',
    output: '[\n  {"engineVersion": 1, "n": 1.0},\n  {"engineVersion": 2}\n]',
  },
  {
    what: 'deep nesting',
    input: `{"a":${'['.repeat(5000)}${']'.repeat(5000)},"engineVersion":"1"}`,
    output: `{"a":${'['.repeat(5000)}${']'.repeat(5000)},"engineVersion":1}`,
  },
];

interface Versioned {
  readonly engineVersion: string;
}
interface SampleEvent extends Versioned {
  readonly type: string;
  readonly payload: Versioned;
}
interface SampleRun extends Versioned {
  readonly events: readonly SampleEvent[];
  readonly event: SampleEvent;
}

function withIntegers(run: SampleRun) {
  const integer = <Sample extends Versioned>(sample: Sample) => ({
    ...sample,
    engineVersion: Number(sample.engineVersion),
  });
  const event = (sample: SampleEvent) => ({
    ...integer(sample),
    payload: sample.type === 'run.started' ? integer(sample.payload) : sample.payload,
  });
  return { ...integer(run), events: run.events.map(event), event: event(run.event) };
}

function converted({ events, event }: SampleRun): number {
  return 1 + [...events, event].reduce((sum, { type }) => sum + (type === 'run.started' ? 2 : 1), 0);
}

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
      '{"runId":"c","events":[{"type":"run.started","engineVersion":"3","payload":{"engineVersion":"4","x":"5"}}]}',
      '{"runId":"d"}',
    ];
    const input = path(`${lines.join('\n')}\n`);
    const output = path();
    expect(await run('engine-version', input, output)).toMatchObject({ code: 0, out: '5 documents, 2 changed\n' });
    expect(readFileSync(output, 'utf8').split('\n')).toEqual([
      '{"runId":"a","engineVersion":7,"inputs":{"engineVersion":"mine"}}',
      lines[1],
      '',
      '{"runId":"c","events":[{"type":"run.started","engineVersion":3,"payload":{"engineVersion":4,"x":"5"}}]}',
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

  test.each([
    ['of another input', '{"runId":"x","engineVersion":1}\n', 'does not come from INPUT'],
    ['longer than the input', '{"engineVersion":1}\n{"engineVersion":2}\n{}\n', 'has more lines than INPUT'],
  ])('does not resume an output %s', async (_what, written, problem) => {
    const input = path('{"engineVersion":"1"}\n{"engineVersion":"2"}\n');
    const output = path(written);
    const { code, err } = await run('engine-version', input, output, '--resume');
    expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
    expect(readFileSync(output, 'utf8')).toBe(written);
  });

  test('a dry run writes nothing, and lists every value that cannot be converted', async () => {
    const input = path(
      '{"engineVersion":"1","event":{"engineVersion":"2"}}\n{"engineVersion":"v8"}\n{}\n{"engineVersion":null}\n',
    );
    const { code, out, err } = await run('engine-version', '--dry-run', input);
    expect([code, out]).toEqual([1, '4 documents, 1 would change (2 values), 2 cannot be converted\n']);
    expect(err.split('\n')).toEqual([
      `${input}:2: engineVersion is "v8", not an integer of at least 0. Correct it and run again.`,
      `${input}:4: engineVersion is null, not an integer of at least 0. Correct it and run again.`,
      '',
    ]);
    expect((await run('engine-version', '--dry-run', path('{"engineVersion":"1"}\n'))).code).toBe(0);
  });

  test.each(KEPT)('keeps every other byte: $what', async ({ input, output }) => {
    const written = path();
    expect(await run('engine-version', path(input), written)).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(written, 'utf8')).toBe(output);
  });

  test('rejects bytes that are not UTF-8 instead of replacing them', async () => {
    const input = path();
    writeFileSync(input, Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}\n')]));
    expect(await run('engine-version', input, path())).toMatchObject({
      code: 1,
      err: `${input}:1: is not UTF-8. Repair it and run again.\n`,
    });
  });

  test('the output without the replaced tokens is the input, for any documents', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('engineVersion', 'event', 'payload', 'type'),
    );
    const data = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        text,
        tie('object'),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
      object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    })).object;
    const version = fc.nat().map(String);
    const event = fc.record({
      type: fc.constantFrom('run.started', 'node.completed'),
      engineVersion: version,
      payload: fc.tuple(data, version).map(([others, own]) => ({ ...(others as object), engineVersion: own })),
    });
    const document = fc
      .record({ inputs: data, engineVersion: version, events: fc.array(event, { maxLength: 3 }), event })
      .map((run) => JSON.stringify(run, undefined, ' ').replaceAll('\n', '\t'));
    await fc.assert(
      fc.asyncProperty(fc.array(document, { minLength: 1, maxLength: 4 }), async (documents) => {
        const input = documents.join('\r\n');
        const output = path();
        expect((await run('engine-version', path(input), output)).code).toBe(0);
        const lines = readFileSync(output, 'utf8').split('\r\n');
        for (const [index, line] of lines.entries()) {
          const before = JSON.parse(documents[index] ?? '');
          expect(JSON.parse(line)).toEqual(withIntegers(before));
          // The quotes of the converted tokens are all that is missing.
          expect(documents[index]?.length).toBe(line.length + 2 * converted(before));
        }
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    [[]],
    [['a']],
    [['/nonexistent', 'b']],
    [['a', 'b', 'c']],
    [['a', 'b', '--colour']],
    [['a', 'b', '--dry-run']],
    [['--dry-run', '--resume', 'a']],
  ])('rejects the arguments %j', async (args) => {
    expect((await run('engine-version', ...args)).code).toBe(2);
  });
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
      tag?: string,
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
      breakIt(answer, target, request.headers['svc-version'] as string | undefined, request.headers['if-none-match']);
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
      'a 304 to the tag of the other major',
      /✗ discovery of major 1 does not answer 304 to the ETag of major 2: 304 to "2"/,
      (answer: { status: number }, _target: string, version?: string, tag?: string) => {
        if (version === '1' && tag === '"2"') answer.status = 304;
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
