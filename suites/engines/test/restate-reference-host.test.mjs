// The reference host with `engine: restate`: its answers and its refusals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { startRestate } from './restate-server.mjs';

const MAIN = join(env.SVC_CHECKOUT, 'examples/reference-host/dist/main.js');
const KEY = 'key-of-the-suite-engines-0123456789abcdef';
const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'svc-on-restate-'));
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
const { ingressUrl, adminUrl, identityKey } = server;
const restate = { ingressUrl, adminUrl, port: 0, identityKeys: [identityKey] };

/** Starts the host with a configuration. */
function start(configuration) {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, ...configuration }));
  return spawn(execPath, [MAIN, '--config', path], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The exit code of a host that does not start, and its errors. */
async function refused(configuration) {
  const child = start(configuration);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  const isRecord = (line) => line === '' || line.startsWith('{');
  return { code, errors: stderr.split('\n').filter((line) => !isRecord(line)) };
}

test('engine: restate executes a run with Restate, and leaves nothing there at the end', async () => {
  const host = start({
    ...{ engine: 'restate', restate, store: 'sqlite:svc.db' },
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        ...{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' },
        ...{ scopes: ['runs:create', 'runs:read'], mode: 'live' },
      },
    ],
  });
  host.stderr.resume();
  const exit = once(host, 'exit');
  const [line] = await once(createInterface({ input: host.stdout }), 'line');
  const { url } = JSON.parse(line);
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'echo', inputs: { hello: 'world' } });
  const created = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  assert.equal(created.status, 201);
  const { runId } = await created.json();
  const ended = () =>
    server.query(
      `SELECT completion_result FROM sys_invocation WHERE starts_with(idempotency_key, '${runId}:') AND status = 'completed'`,
    );
  for (const end = Date.now() + 60_000; Date.now() < end && (await ended()).length === 0; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(await ended(), [{ completion_result: 'success' }]);
  const run = await (await fetch(`${url}/v1/runs/${runId}`, { headers })).json();
  assert.equal(run.status, 'completed');
  host.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
  assert.deepEqual((await (await fetch(`${adminUrl}/deployments`)).json()).deployments, []);
});

const NOTHING = 'http://127.0.0.1:1';

for (const [title, code, configuration, error] of [
  [
    ...['engine: restate without a cluster is exit 2', 2, { engine: 'restate' }],
    /^engine: restate needs a cluster\. Set restate to its URLs and a port, or engine to steps\.$/,
  ],
  [
    ...['a wrong URL is exit 2', 2, { engine: 'restate', restate: { ...restate, adminUrl: 'restate:9070' } }],
    /^restate\.adminUrl: must be a URL without a query\. Write http:\/\/HOST:PORT\.$/,
  ],
  [
    ...[
      'an ingress that does not answer is exit 1',
      1,
      { engine: 'restate', restate: { ...restate, ingressUrl: NOTHING } },
    ],
    /^restateEngine: the ingress of Restate does not answer at http:\/\/127\.0\.0\.1:1 \(.+\)\. Start Restate, or correct the URL\.$/,
  ],
  [
    ...[
      'a handler that Restate cannot call is exit 1',
      1,
      { engine: 'restate', restate: { ...restate, handlerUrl: NOTHING } },
    ],
    /^restateEngine: Restate did not accept the handler at http:\/\/127\.0\.0\.1:1 \(status \d+: .+\)\. Set handlerUrl to the address/,
  ],
]) {
  test(title, async () => {
    const { errors, ...others } = await refused({ store: 'memory:', ...configuration });
    assert.deepEqual({ ...others, count: errors.length }, { code, count: 1 }, errors.join('\n'));
    assert.match(errors[0], error);
  });
}
