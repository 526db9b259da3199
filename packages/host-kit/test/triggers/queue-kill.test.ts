import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresQueueTable } from '../../src/queues/postgres/index.ts';

const SCRIPT = fileURLToPath(new URL('./killed-queue.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-queue-kill-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the host, and resolves with its first line, or an empty one when it ends without. */
async function launch(hangs: string) {
  const host = spawn(execPath, ['--conditions=@svc/source', SCRIPT, join(folder, 'svc.db'), postgres.url, hangs], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [text] = await Promise.race([once(host.stdout, 'data'), once(host, 'exit').then(() => [''])]);
  return { host, printed: String(text).trimEnd() };
}

/** Starts a host that is not killed, and resolves with its number of runs when it has ended and closed its files. */
async function runsAfter() {
  const { host, printed } = await launch('none');
  if (host.exitCode === null) await once(host, 'exit');
  return printed;
}

describe(covers('triggers.queue.durable'), () => {
  test('a message whose host is killed (kill -9) before its acknowledgement starts one run', async () => {
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    await database.query(postgresQueueTable());
    await database.query(`INSERT INTO svc_queue (queue, body) VALUES ('orders', '{"order":"order-1"}')`);
    await database.end();
    const { host, printed } = await launch('verdict');
    expect(printed).toBe('hangs');
    host.kill('SIGKILL');
    await once(host, 'exit');
    expect(await runsAfter()).toBe('1');
  }, 120_000);
});
