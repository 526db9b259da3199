import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { launch } from './child.ts';
import { fakeTime } from './fake-time.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-fake-time-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Undefined without libfaketime, which CI requires. */
const clocks = fakeTime();

const HOUR_MS = 3_600_000;
/** Prints whenever its wall clock and its monotonic clock differ by more than a minute more than at the start, or less. */
const PROGRAM = `
const difference = () => Date.now() - performance.now();
const start = difference();
let said;
setInterval(() => {
  const hours = Math.round((difference() - start) / ${HOUR_MS});
  if (hours !== said) process.send(hours);
  said = hours;
}, 20);
process.stdout.write('ready\\n');`;

describe.runIf(clocks !== undefined)('the clock of a process', () => {
  test.concurrent.each([-24, -1, 1, 24])(
    'is set by %i hours and back, and its monotonic time goes on',
    async (hours) => {
      const file = join(folder, `${hours}.clock`);
      clocks?.set(file, 0);
      const child = launch(['-e', PROGRAM], join(folder, 'clock.log'), clocks?.environment(file) ?? {});
      const said: number[] = [];
      let heard = () => {};
      child.process.on('message', (message) => {
        said.push(Number(message));
        heard();
      });
      const count = async (n: number) => {
        while (said.length < n) await new Promise<void>((resolve) => (heard = resolve));
      };
      await child.firstLine;
      await count(1);
      clocks?.set(file, hours * HOUR_MS);
      await count(2);
      clocks?.set(file, 0);
      await count(3);
      expect(said).toEqual([0, hours, 0]);
      child.kill('SIGKILL');
      await child.ended;
    },
  );
});
