import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isBuild } from '../src/adapters/build.ts';
import { receiver as expressReceiver } from '../src/adapters/express.ts';
import { receiver as fastifyReceiver } from '../src/adapters/fastify.ts';
import { receiver as fetchReceiver } from '../src/adapters/fetch.ts';
import { receiver as nodeReceiver } from '../src/adapters/node.ts';
import { sqliteDedupStore } from '../src/dedup/sqlite.ts';
import { failureLog } from '../src/failure-log.ts';
import { type ReceiveOptions, receive } from '../src/receive.ts';
import { testDelivery } from '../src/testing/index.ts';

const secret = 'a secret of the tests';
const onDelivery = () => {};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Records the lines on the console. */
function onConsole() {
  const error = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {});
  return () => error.mock.calls.map(([line]) => JSON.parse(String(line)));
}

/** Sends one delivery, and returns the status. */
async function statusOf(options: Partial<ReceiveOptions>): Promise<number> {
  const { body, headers } = testDelivery({ secret });
  return (await receive({ secret, onDelivery, ...options })(body, headers)).status;
}

/** A log on a clock that the test moves. */
function logged() {
  let time = 0;
  const lines: string[] = [];
  const log = failureLog({ monotonic: () => time, write: (line) => lines.push(line) });
  return {
    fail: (error: unknown) => log({ message: 'onDelivery: failed.', error }),
    pass: (ms: number) => {
      time += ms;
    },
    lines,
    records: () => lines.map((line) => JSON.parse(line)),
  };
}

describe('a receiver without onFailed', () => {
  test('writes one line with the error of its handler, and nothing of the payload, the headers or the secret', async () => {
    const lines = onConsole();
    const { body, headers } = testDelivery({ secret, type: 'run.completed', payload: { outputs: { card: '4111' } } });
    const broken = () => {
      throw Object.assign(new Error('the table orders is locked'), { request: headers, secret, body });
    };
    expect(await receive({ secret, onDelivery: broken })(body, headers)).toEqual({ status: 500 });
    expect(lines()).toEqual([
      {
        level: 'error',
        event: 'receiver.failed',
        message: 'onDelivery: failed, so the delivery was answered with 500. Correct the handler.',
        error: 'the table orders is locked',
        stack: expect.stringContaining('failure-log.test.ts'),
        eventType: 'run.completed',
        runId: JSON.parse(body).runId,
      },
    ]);
    const text = JSON.stringify(lines());
    for (const hidden of ['4111', secret, ...Object.values(headers).filter((value) => value.length > 20)])
      expect(text).not.toContain(hidden);
  });

  test('writes the error of a deduplication store whose table is missing', async () => {
    const lines = onConsole();
    const folder = mkdtempSync(join(tmpdir(), 'svc-failure-log-'));
    try {
      const path = join(folder, 'deliveries.db');
      const dedup = sqliteDedupStore(path);
      const other = new DatabaseSync(path);
      for (const { name } of other.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
        other.exec(`DROP TABLE "${name}"`);
      other.close();
      expect(await statusOf({ dedup })).toBe(500);
      dedup.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    expect(lines()).toMatchObject([
      {
        message: 'dedup: claim failed, so the delivery was answered with 500. Correct the store.',
        error: expect.stringMatching(/no such table/),
      },
    ]);
  });

  test('writes of a thrown value that is no Error only the type', async () => {
    const lines = onConsole();
    expect(await statusOf({ onDelivery: () => Promise.reject(secret) })).toBe(500);
    expect(lines()).toMatchObject([{ error: 'string' }]);
    expect(JSON.stringify(lines())).not.toContain(secret);
  });

  test('works in a runtime without a console', async () => {
    vi.stubGlobal('console', undefined);
    expect(await statusOf({ onDelivery: () => Promise.reject(new Error('no')) })).toBe(500);
  });
});

test('onFailed replaces the line, and its own errors are ignored, also those of an async function', async () => {
  const lines = onConsole();
  const errors: unknown[] = [];
  const failing = () => Promise.reject(new Error('no'));
  expect(await statusOf({ onDelivery: failing, onFailed: () => {} })).toBe(500);
  expect(await statusOf({ onDelivery: failing, onFailed: (error) => errors.push(String(error)) })).toBe(500);
  // An unhandled rejection would fail this run of the tests.
  expect(await statusOf({ onDelivery: failing, onFailed: failing as unknown as () => void })).toBe(500);
  expect([errors, lines()]).toEqual([['Error: no'], []]);
});

describe('the log of a receiver', () => {
  test('has the same failure once in 10 s, with the number of those that were left out', () => {
    const { fail, pass, records } = logged();
    for (let count = 0; count < 5; count++) fail(new Error('locked'));
    fail(new Error('another'));
    pass(9_999);
    fail(new Error('locked'));
    expect(records().map(({ error, suppressed }) => [error, suppressed])).toEqual([
      ['locked', undefined],
      ['another', undefined],
    ]);
    pass(1);
    fail(new Error('locked'));
    fail(new Error('another'));
    expect(records().slice(2)).toMatchObject([{ error: 'locked', suppressed: 5 }, { error: 'another' }]);
  });

  test('has a bounded number of lines for errors that quote their input, and forgets old ones', () => {
    const { fail, pass, lines } = logged();
    for (let count = 0; count < 1000; count++) fail(new Error(`no tenant ${count}`));
    expect(lines.length).toBe(21);
    pass(10_000);
    for (let count = 1000; count < 2000; count++) fail(new Error(`no tenant ${count}`));
    expect(lines.length).toBe(42);
  });

  test('has lines of a bounded length', () => {
    const { fail, lines } = logged();
    fail(new Error('x'.repeat(1_000_000)));
    expect(lines[0]?.length).toBeLessThan(6000);
    expect(lines[0]).not.toContain('\n');
  });
});

describe('a receiver of a server that is made without a secret', () => {
  const MADE: [string, (secret: string | undefined | (() => undefined), onFailed?: () => void) => unknown][] = [
    ['node:http', (secret, onFailed) => nodeReceiver({ secret, onDelivery, ...(onFailed && { onFailed }) })],
    ['Express', (secret, onFailed) => expressReceiver({ secret, onDelivery, ...(onFailed && { onFailed }) })],
    ['Fastify', (secret, onFailed) => fastifyReceiver({ secret, onDelivery, ...(onFailed && { onFailed }) })],
  ];

  test.each(MADE)('says so at once: %s', (_name, make) => {
    const lines = onConsole();
    make('');
    expect(lines()).toMatchObject([
      { event: 'receiver.failed', error: 'secret: is undefined or empty. Set its environment variable.' },
    ]);
    const onFailed = vi.fn();
    make(undefined, onFailed);
    expect(onFailed).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError), undefined);
    make(() => undefined);
    make(secret);
    expect(lines().length).toBe(1);
  });

  test.each(MADE)('says nothing in a build, which has no secrets: %s', (_name, make) => {
    const lines = onConsole();
    vi.stubEnv('NEXT_PHASE', 'phase-production-build');
    make(undefined);
    expect(lines()).toEqual([]);
  });

  test('is told of by its first delivery alone where builds evaluate it: a fetch handler', () => {
    const lines = onConsole();
    fetchReceiver({ secret: undefined, onDelivery });
    expect(lines()).toEqual([]);
  });

  test.each([
    [{ NEXT_PHASE: 'phase-production-build' }, true],
    [{ NEXT_PHASE: 'phase-production-server' }, false],
    [{ npm_lifecycle_event: 'build' }, true],
    [{ npm_lifecycle_event: 'prebuild' }, true],
    [{ npm_lifecycle_event: 'build:web' }, true],
    [{ npm_lifecycle_event: 'start' }, false],
    [{}, false],
  ])('with the environment %j: in a build? %s', (environment, expected) => {
    expect(isBuild(environment)).toBe(expected);
  });
});
