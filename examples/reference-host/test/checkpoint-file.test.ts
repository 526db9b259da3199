import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BootedHost, bootHost, launch, scratch } from './booted-host.ts';

const KEY = 'operator_key_of_the_checkpoint_file_test_x';

let folder: ReturnType<typeof scratch>;
let host: BootedHost | undefined;
beforeEach(() => {
  folder = scratch();
  for (const name of ['data', 'witness']) mkdirSync(folder.path(name));
});
afterEach(async () => {
  await stop();
  folder.remove();
});

const config = () => ({
  listen: { port: 0 },
  store: `sqlite:${folder.path('data')}/svc.db`,
  tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
  apiKeys: [
    { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1', scopes: ['runs:create'] },
  ],
  audit: { checkpointIntervalEntries: 2, checkpointFile: `${folder.path('witness')}/checkpoints.jsonl` },
});

const file = () => folder.path('config.json');
const copies = () => readFileSync(`${folder.path('witness')}/checkpoints.jsonl`, 'utf8');

async function stop() {
  host?.process.kill('SIGTERM');
  await host?.ended;
  host = undefined;
}

async function serveRuns(runs: number) {
  host = await bootHost(file(), config());
  for (let turn = 0; turn < runs; turn++) {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ workflowId: 'echo', inputs: {} });
    expect((await fetch(`${host.url}/v1/runs`, { method: 'POST', headers, body })).status).toBe(201);
  }
  await stop();
}

test('the host does not start on a database that was put back to an earlier state, and says what is missing', async () => {
  await serveRuns(2);
  cpSync(folder.path('data'), folder.path('backup'), { recursive: true });
  await serveRuns(3);
  const before = copies();
  const last = JSON.parse(before.trimEnd().split('\n').at(-1) ?? '').atSequence;

  rmSync(folder.path('data'), { recursive: true });
  cpSync(folder.path('backup'), folder.path('data'), { recursive: true });
  const refused = launch(file(), config());
  expect(await refused.ended).toBe(2);
  const lines = refused.stderr.filter((line) => !line.startsWith('{'));
  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(
        `^The audit log ends at entry \\d+, and its checkpoint sink has recorded entry ${last}: .* missing\\. `,
      ),
    ),
  ]);
  expect(refused.stderr.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect(copies()).toBe(before);
});

test('the host starts again on its own database, and goes on with its file', async () => {
  await serveRuns(2);
  const before = copies();
  await serveRuns(2);
  expect(copies().startsWith(before)).toBe(true);
  expect(copies().length).toBeGreaterThan(before.length);
});
