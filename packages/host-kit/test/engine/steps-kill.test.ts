import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./killed-host.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-steps-'));
const done = join(folder, 'done');
const doneLines = () => (existsSync(done) ? readFileSync(done, 'utf8').trimEnd().split('\n') : []);

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the host. `printed` resolves with its first line, or an empty one when it ends without. */
function launch(...run: readonly string[]) {
  const options = ['--conditions=@svc/source', SCRIPT, join(folder, 'svc.db'), done, ...run];
  const host = spawn(execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = Promise.race([once(host.stdout, 'data'), once(host, 'exit').then(() => [''])]);
  return { host, printed: printed.then(([text]) => String(text).trimEnd()) };
}

test('a run goes on after kill -9 with the step that was under way, and does no recorded step again', async () => {
  const { host, printed } = launch();
  const runId = await printed;
  await expect.poll(doneLines, { timeout: 60_000 }).toEqual(['first', 'second 0']);
  host.kill('SIGKILL');
  await once(host, 'exit');

  expect(await launch(runId).printed).toBe('completed');
  expect(doneLines()).toEqual(['first', 'second 0', 'second 1', expect.stringMatching(/^ended 0\.[0-9]+/)]);
});
