import { Writable } from 'node:stream';
import { apiKeyLane, hashApiKey } from '@svc/auth/api-key';
import type { HostOptions, LogRecord, PortOptions, WorkflowEngine } from '@svc/host-kit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { standardErrorLog } from '../../src/standard-error-log.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';
import { eventually, KEY, type Serving, serve } from '../streams/serving.ts';

const servings: Serving[] = [];
afterEach(async () => {
  for (const serving of servings.splice(0)) await serving.close();
  vi.restoreAllMocks();
});

/** Starts a host without the log of the tests, and records the lines that it writes to standard error. */
async function silentlyServed(options: Partial<HostOptions>) {
  const lines: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((line, ...rest) => {
    lines.push(String(line));
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  });
  // A log that is undefined is one that was left out, also where it comes from a variable.
  const serving = await serve({ ...options, ports: { log: undefined, ...options.ports } as PortOptions });
  servings.push(serving);
  const records = (): LogRecord[] => lines.map((line) => JSON.parse(line));
  const create = () =>
    fetch(`${serving.url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workflowId: 'any' }),
    });
  return { serving, lines, records, create };
}

const broken = () => {
  throw new Error('the rules of the engine are gone');
};
const failing: WorkflowEngine = { execute: async () => broken() };

describe('a host without a log', () => {
  test('writes the exception of its engine with the run and the stack, of which the caller sees nothing', async () => {
    const { serving, lines, records, create } = await silentlyServed({ engine: failing });
    const { runId } = await (await create()).json();
    await eventually(() => records().some(({ event }) => event === 'run.engine-failed'));
    expect(records()).toContainEqual(
      expect.objectContaining({
        ...{ level: 'error', event: 'run.engine-failed', runId, time: expect.stringMatching(/Z$/) },
        ...{ error: 'the rules of the engine are gone', stack: expect.stringContaining('standard-error-log.test.ts') },
      }),
    );
    expect(lines.every((line) => line.endsWith('}\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
    const { body } = await serving.json(`/v1/runs/${runId}/events/poll?timeout=5`);
    const log = JSON.stringify(body);
    expect(log).toContain('The workflow engine failed.');
    expect(log).not.toContain('rules of the engine');
  });

  test('writes a 500 with its correlation id and its stack', async () => {
    const { records, create } = await silentlyServed({ engine: { ...failing, accepts: broken } });
    const answer = await create();
    const body = await answer.json();
    expect([answer.status, body.error]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toContain('rules of the engine');
    expect(records()).toMatchObject([
      {
        ...{ level: 'error', event: 'request.failed', correlationId: body.details.correlationId },
        ...{ error: 'the rules of the engine are gone', stack: expect.stringContaining('at ') },
      },
    ]);
  });

  test('writes that its store of keys is down, and answers 503', async () => {
    const candidates = () => Promise.reject(new Error('the key store is down'));
    const { records, create } = await silentlyServed({
      authenticate: [apiKeyLane({ keys: { candidates } })],
    });
    const { status, headers } = await create();
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    const found = records().find(({ event }) => event === 'authentication.failed');
    expect(found).toMatchObject({ level: 'error', error: 'the key store is down' });
    expect(JSON.stringify(records())).not.toContain(KEY);
    expect(JSON.stringify(records())).not.toContain(hashApiKey(KEY));
  });
});

test('a host with a log of its own writes nothing to standard error', async () => {
  const { lines, create } = await silentlyServed({ engine: { ...failing, accepts: broken }, ports: { log: () => {} } });
  expect((await create()).status).toBe(500);
  expect(lines).toEqual([]);
});

describe('the log of standard error', () => {
  function logged() {
    const lines: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write(line: string, _encoding, done) {
        lines.push(line);
        done();
      },
    });
    const clock = virtualClock(0).forHost();
    return { ...standardErrorLog(clock, stream), lines, records: () => lines.map((line) => JSON.parse(line)) };
  }

  test('has warnings and errors alone', () => {
    const { log, records } = logged();
    for (const level of ['info', 'warn', 'error'] as const) log({ level, event: `a.${level}` });
    expect(records()).toMatchObject([
      { level: 'warn', event: 'a.warn' },
      { level: 'error', event: 'a.error' },
    ]);
  });

  test('has one line a second for one cause, of warnings, too', () => {
    const { log, end, records } = logged();
    for (let count = 0; count < 20; count++) log({ level: 'warn', event: 'delivery.attempted', status: 503 });
    expect(records().length).toBe(1);
    end();
    expect(records().map(({ repeated }) => repeated)).toEqual([undefined, 19]);
  });

  test.each<[string, Record<string, string | string[]>]>([
    ['a long message and a long stack', { error: 'x'.repeat(1_000_000), stack: 'y'.repeat(1_000_000) }],
    ['a long list', { error: 'x', ids: Array.from({ length: 10_000 }, (_, index) => `id ${index}`) }],
    [
      'many long texts',
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 'x'.repeat(2000)])),
    ],
  ])('has lines of a bounded length: %s', (_title, fields) => {
    const { log, lines, records } = logged();
    log({ level: 'error', event: 'request.failed', correlationId: 'c1', ...fields });
    expect(lines[0]?.length).toBeLessThan(17_000);
    expect(records()).toMatchObject([{ level: 'error', event: 'request.failed', correlationId: 'c1' }]);
  });
});
