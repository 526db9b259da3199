import { expect, test } from 'vitest';
import { floodGuard } from '../../src/flood-guard.ts';
import type { LogRecord } from '../../src/ports/log.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';

function guarded() {
  const world = virtualClock(0);
  const written: LogRecord[] = [];
  const guard = floodGuard((record) => written.push(record), world.forHost());
  const until = async (time: number) => {
    world.at(time, () => {});
    await world.run(time);
  };
  return { ...guard, written, until };
}

const failed = (error: string, fields: object = {}): LogRecord => ({
  ...{ level: 'error', event: 'request.failed', error, stack: `Error: ${error}\n at there` },
  ...fields,
});

test('writes one line a second for one cause, with the number of lines that it stands for', async () => {
  const { log, written, until } = guarded();
  for (let second = 0; second < 3; second++) {
    for (let line = 0; line < 1000; line++) log(failed('database or disk is full'));
    await until((second + 1) * 1000);
  }
  expect(written.map(({ repeated }) => repeated)).toEqual([undefined, 999, 1000, 1000]);
  expect(written.map(({ stack }) => typeof stack)).toEqual(['string', ...Array(3).fill('undefined')]);
  await until(10_000);
  log(failed('database or disk is full'));
  expect(written.length).toBe(5);
});

test('ids and numbers make no other cause; another message or event does', async () => {
  const { log, written, until } = guarded();
  for (let id = 0; id < 5; id++)
    log(failed(`Run ${id}4f0c2a9b8d7e is locked for ${id} ms.`, { correlationId: `c${id}` }));
  log(failed('The disk is gone.'));
  log({ ...failed('The disk is gone.'), event: 'audit.write-failed' });
  expect(written.length).toBe(3);
  await until(1000);
  expect(written.slice(3)).toMatchObject([{ repeated: 4, correlationIds: ['c1', 'c2', 'c3', 'c4'] }]);
});

test('writes what it holds back when it ends, and every record below error as it comes', () => {
  const { log, end, written } = guarded();
  for (let line = 0; line < 4; line++) {
    log(failed('x'));
    log({ level: 'warn', event: 'delivery.attempted' });
  }
  end();
  log(failed('x'));
  expect(written.filter(({ level }) => level === 'warn').length).toBe(4);
  expect(written.filter(({ level }) => level === 'error').map(({ repeated }) => repeated)).toEqual([
    undefined,
    3,
    undefined,
  ]);
});

test('a thousand messages without a common form are written, and take no unbounded memory', () => {
  const { log, written } = guarded();
  const letters = (n: number): string =>
    (n < 26 ? '' : letters(Math.floor(n / 26))) + String.fromCharCode(103 + (n % 20));
  for (let n = 0; n < 1000; n++) log(failed(`${letters(n)}-${'ghijk'.repeat(n % 7)}`));
  expect(written.length).toBeGreaterThan(400);
});

test('guards warnings, too, where it is asked to', async () => {
  const world = virtualClock(0);
  const written: LogRecord[] = [];
  const { log, end } = floodGuard((record) => written.push(record), world.forHost(), ['warn', 'error']);
  for (let line = 0; line < 4; line++) {
    log({ level: 'warn', event: 'delivery.attempted', status: 503 });
    log({ level: 'info', event: 'request' });
  }
  end();
  expect(written.filter(({ level }) => level === 'info').length).toBe(4);
  expect(written.filter(({ level }) => level === 'warn')).toMatchObject([
    { status: 503 },
    { status: 503, repeated: 3 },
  ]);
});
