import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { covers } from '@svc/tools/covers';
import { afterAll, describe, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./killed-schedule.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-schedule-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the host, and resolves with its first line, or an empty one when it ends without. */
async function launch(database: string, hangs: string) {
  const host = spawn(execPath, ['--conditions=@svc/source', SCRIPT, join(folder, database), hangs], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [text] = await Promise.race([once(host.stdout, 'data'), once(host, 'exit').then(() => [''])]);
  return { host, printed: String(text).trimEnd() };
}

/** Starts a host that is not killed, and resolves with its number of runs when it has ended and closed its files. */
async function runsAfter(database: string) {
  const { host, printed } = await launch(database, 'none');
  if (host.exitCode === null) await once(host, 'exit');
  return printed;
}

describe(covers('triggers.schedule.once'), () => {
  test.each([
    ['while its message is stored', 'take'],
    ['while its run is stored', 'settle'],
  ])('an occurrence whose host is killed (kill -9) %s starts one run afterwards', async (_when, hangs) => {
    const { host, printed } = await launch(`${hangs}.db`, hangs);
    expect(printed).toBe('hangs');
    host.kill('SIGKILL');
    await once(host, 'exit');
    expect(await runsAfter(`${hangs}.db`)).toBe('1');
    expect(await runsAfter(`${hangs}.db`)).toBe('1');
  });
});
