// The reference host with `engine: dbos`: its demonstration, its answers and its refusals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';

const DIST = join(env.SVC_CHECKOUT, 'examples/reference-host/dist');
const folder = mkdtempSync(join(tmpdir(), 'svc-on-dbos-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program of the reference host to its end. */
async function ended(program, ...args) {
  const child = spawn(execPath, [join(DIST, program), ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

test('npm start -- --engine dbos shows a run that survives kill -9, and a host on DBOS', async () => {
  const args = [join(DIST, 'start.js'), '--engine', 'dbos'];
  const child = spawn(execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('Verified deliveries')) break;
  }
  const text = lines.join('\n');
  const survived = /^The run run_\S+ survived: (.*)$/m.exec(text)?.[1];
  assert.equal(survived, 'run.started, node.started, node.completed, run.completed', text);

  const { engine, store, apiKeys, listen } = JSON.parse(readFileSync(join(folder, '.svc/dbos/config.json'), 'utf8'));
  assert.deepEqual({ engine, store: store.slice(0, 11) }, { engine: 'dbos', store: 'postgres://' });
  const headers = { authorization: `Bearer ${apiKeys[0].key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'echo', inputs: { hello: 'world' } });
  const created = await fetch(`http://127.0.0.1:${listen.port}/v1/runs`, { method: 'POST', headers, body });
  assert.equal(created.status, 201);

  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
});

test('npm start refuses an engine that it does not know', async () => {
  const refused = await ended('start.js', '--engine', 'temporal');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^npm start: does not know these arguments\. Write npm start/);
});

test('engine: dbos with a store that is no PostgreSQL is exit 2', async () => {
  const config = join(folder, 'config.json');
  for (const store of ['memory:', 'sqlite:./svc.db']) {
    writeFileSync(config, JSON.stringify({ engine: 'dbos', store }));
    const { code, stderr } = await ended('main.js', '--config', config);
    assert.deepEqual(
      { store, code, stderr: stderr.trim() },
      {
        ...{ store, code: 2 },
        stderr: 'engine: dbos needs a PostgreSQL. Set store to postgres://USER@HOST/DATABASE, or engine to steps.',
      },
    );
  }
});
