import { writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { jsonLines } from '@svc/host-kit/node';
import { hostLog, type RunningHost } from './booted-host.ts';

/**
 * Boots a host without a process of its own, in a tenth of the time. It is the built host, and reads its configuration
 * from a file as `main.js` does. Its end is that of SIGTERM. A signal, an exit code and a crash need `bootHost`.
 *
 * @throws {Error} for a configuration that is refused
 */
export async function bootInProcess(file: string, config: object): Promise<RunningHost> {
  const { boot, readConfig } = await built();
  writeFileSync(file, JSON.stringify({ shutdown: AT_ONCE, ...config }));
  const read = await readConfig(file);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const { lines, add } = hostLog('in process');
  const { log } = jsonLines(
    new Writable({ write: (chunk, _encoding, done) => done(void add(String(chunk).trimEnd())) }),
  );
  const { url, stop } = await boot(read.config, log);
  return { url, stderr: lines, end: stop };
}

/** The rest of a test, such as a run that waits for a minute, is not waited for. */
const AT_ONCE = { graceMs: 100 };

/** Loads the host that `npm start` and `main.js` load. The tests are its only users in a process of others. */
async function built(): Promise<Built> {
  const [{ boot }, { readConfig }] = await Promise.all([
    import(new URL('../dist/boot.js', import.meta.url).href),
    import(new URL('../dist/read-config.js', import.meta.url).href),
  ]);
  return { boot, readConfig };
}

interface Built {
  readonly boot: typeof import('../src/boot.ts').boot;
  readonly readConfig: typeof import('../src/read-config.ts').readConfig;
}
