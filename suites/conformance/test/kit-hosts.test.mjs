// Holds hosts of @svc/host-kit to the protocol with the installed command: the first program of the README, and a host with the
// fixtures of the kit.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { after, describe, test } from 'node:test';
import { withFreePorts } from '../../../tools/free-ports.mjs';
import { packedWorkspace } from '../../../tools/packed-workspace.mjs';
import { readPage } from '../../../tools/page-blocks.mjs';
import { conformance, failures } from '../installed-suite.mjs';

const KEY = 'development-key-of-this-machine-only';
const workspace = await packedWorkspace(join(import.meta.dirname, '..'));
after(workspace.remove);

/** Starts a program that listens on the port that it names, and waits until it answers. */
async function started(t, name, text) {
  const program = await withFreePorts(text);
  const [, port] = /listen\((?:host, )?(\d+)/.exec(program);
  writeFileSync(join(workspace.folder, name), program);
  const child = spawn(execPath, [name], { cwd: workspace.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const problems = [];
  child.stderr.on('data', (chunk) => problems.push(chunk));
  const isOver = once(child, 'exit');
  t.after(async () => {
    child.kill();
    await isOver;
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    assert.equal(child.exitCode, null, Buffer.concat(problems).toString());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, key: KEY };
}

/** A host answers 503 until it has started. */
async function answers(url) {
  try {
    const response = await fetch(`${url}/.well-known/svc`);
    await response.arrayBuffer();
    return response.status !== 503;
  } catch {
    return false;
  }
}

/** The reasons for which checks were skipped for want of something that a user can give. */
const wants = ({ results }) => [
  ...new Set(results.filter(({ cause }) => cause === 'set-up').map(({ reason }) => reason)),
];

describe('the first program of the README', () => {
  test('fails no check, and is told the fixtures that others need', async (t) => {
    const { blocks } = readPage(readFileSync(join(env.SVC_CHECKOUT, 'README.md'), 'utf8'));
    const program = blocks.find(({ language }) => language === 'ts').lines.join('\n');
    const host = await started(t, 'readme.ts', program);
    const { code, report, problems } = await conformance(workspace, host);
    assert.deepEqual([failures(report), problems, code], [[], '', 3]);
    assert.ok(report.summary.passed >= 100, `${report.summary.passed} checks passed`);
    for (const fixture of ['conformance-noop', 'conformance-failure']) {
      assert.ok(
        wants(report).some((reason) => reason.startsWith(`fixtures[] of the host does not list ${fixture}`)),
        fixture,
      );
    }
  });
});

const WITH_FIXTURES = `
import { createServer } from 'node:http';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { egressPolicy } from '@svc/egress-guard';
import { createHost } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { CONFORMANCE_FIXTURES, withConformanceFixtures } from '@svc/host-kit/testing/conformance';

const scopes = ['runs:*', 'webhooks:manage', 'approvals:respond', 'manifest:read', 'artifacts:read'];
const keys = memoryKeyStore([
  { id: 'key_1', hash: hashApiKey('${KEY}'), tenant: 'acme', workspaces: ['main'], principal: 'p_1', scopes, mode: 'live' },
]);
const engine = {
  accepts: (id) => id === 'greet',
  execute: async () => ({ status: 'completed', outputs: {} }),
};
const host = createHost({
  store: memoryStore(),
  authenticate: [apiKeyLane({ keys })],
  engine: withConformanceFixtures(engine),
  discovery: { fixtures: CONFORMANCE_FIXTURES },
  secretKey: crypto.getRandomValues(new Uint8Array(32)),
  egress: egressPolicy({ allowLoopback: true }),
  webhooks: { retryPolicy: { maxAttempts: 4, backoff: 'fixed', delayMs: 100, maxDelayMs: 10_000 } },
});
await host.start();
createServer(toNodeListener(host)).listen(8787);
`;

describe('a host with the fixtures of the kit', () => {
  test('conforms to every profile that one key can look at', async (t) => {
    const host = await started(t, 'with-fixtures.mjs', WITH_FIXTURES);
    const profiles = ['core', 'runs', 'interrupts', 'webhooks', 'durable'].flatMap((name) => ['--profile', name]);
    const { code, report, problems } = await conformance(workspace, host, ...profiles);
    assert.deepEqual([failures(report), report.missing, problems, code], [[], [], '', 0]);
    const isOfAFixture = (reason) => reason.startsWith('fixtures[] of the host');
    assert.deepEqual(wants(report).filter(isOfAFixture), []);
  });
});
