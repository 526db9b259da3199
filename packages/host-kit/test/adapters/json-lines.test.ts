import { Writable } from 'node:stream';
import { jsonLines } from '@svc/host-kit/node';
import { expect, test } from 'vitest';

/** A stream that can fail, and can keep its reader waiting. */
function sink() {
  const lines: string[] = [];
  const state: { fault: Error | undefined; isStill: boolean; go: () => void } = {
    fault: undefined,
    isStill: false,
    go: () => {},
  };
  const stream = new Writable({
    // As for process.stderr: a failed write does not end the stream.
    autoDestroy: false,
    decodeStrings: false,
    write(line: string, _encoding, done) {
      if (state.fault !== undefined) return done(state.fault);
      if (state.isStill) {
        state.go = () => done();
        return;
      }
      lines.push(line);
      done();
    },
  });
  return { stream, state, records: () => lines.map((line) => JSON.parse(line)) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a log writes each record as a line of JSON with its time', () => {
  const { stream, records } = sink();
  jsonLines(stream).log({ level: 'info', event: 'host.stopping', signal: 'SIGTERM' });
  expect(records()).toEqual([
    { time: expect.stringMatching(/^\d{4}-.+Z$/), level: 'info', event: 'host.stopping', signal: 'SIGTERM' },
  ]);
});

test('a log whose stream holds 4 MiB for a reader that stands still drops records, and tells it later', async () => {
  const { stream, state, records } = sink();
  const { log, dropped } = jsonLines(stream);
  state.isStill = true;
  const long = 'x'.repeat(1_048_576);
  for (let index = 0; index < 8; index++) log({ level: 'info', event: 'long', long });
  expect(stream.writableLength).toBeLessThan(6 * 1_048_576);
  const lost = dropped();
  expect(lost).toBeGreaterThan(0);
  state.isStill = false;
  state.go();
  await turn();
  log({ level: 'info', event: 'after' });
  await turn();
  expect(dropped()).toBe(0);
  expect(records().filter(({ event }) => event !== 'long')).toMatchObject([
    { level: 'warn', event: 'log.records-dropped', dropped: lost },
    { event: 'after' },
  ]);
});

test('a record with a value that JSON does not have is written without its fields', () => {
  const { stream, records } = sink();
  const circular: Record<string, never> = {};
  Object.assign(circular, { circular });
  jsonLines(stream).log({ level: 'error', event: 'odd', circular });
  expect(records()).toMatchObject([{ level: 'error', event: 'odd' }]);
});
