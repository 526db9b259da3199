import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { after, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const { SVC_TARBALLS: tarballs = '', SVC_CHECKOUT: checkout = '' } = env;
if (tarballs === '' || checkout === '') throw new Error('Run npm run suites -- policies in the checkout.');
const { unpackAll } = await import(pathToFileURL(join(checkout, 'tools/package-consumer.mjs')).href);
const { freePort } = await import(pathToFileURL(join(checkout, 'tools/free-port.ts')).href);

const suite = fileURLToPath(new URL('..', import.meta.url));
const folder = join(suite, '.projects/engines');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await unpackAll(tarballs, folder);
cpSync(join(suite, 'engines'), folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');

const compiler = join(suite, 'node_modules/typescript/bin/tsc');
const { status, stdout } = spawnSync(execPath, [compiler, '-p', folder], { encoding: 'utf8', timeout: 300_000 });
assert.equal(status, 0, stdout);

const load = (name) => import(pathToFileURL(join(folder, name)).href);
const { matchesFilter, policyDecider } = await load('node_modules/@svc/auth/dist/policy/index.js');
const { cedarEngine } = await load('cedar.ts');
const { cerbosEngine } = await load('cerbos.ts');

/** A policy decision point of Cerbos on loopback. */
async function startCerbos() {
  const [http, grpc] = [await freePort(), await freePort()];
  const config = join(folder, 'cerbos.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      server: { httpListenAddr: `127.0.0.1:${http}`, grpcListenAddr: `127.0.0.1:${grpc}` },
      storage: { driver: 'disk', disk: { directory: join(folder, 'cerbos-policies') } },
      telemetry: { disabled: true },
    }),
  );
  const program = join(suite, 'node_modules/@cerbos/cerbos-linux-x64/cerbos-linux-x64');
  const child = spawn(program, ['server', `--config=${config}`], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${http}`;
  const deadline = Date.now() + 60_000;
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('Cerbos did not start.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function isHealthy(url) {
  try {
    return (await fetch(`${url}/_cerbos/health`, { signal: AbortSignal.timeout(5000) })).ok;
  } catch {
    return false;
  }
}

const cerbos = await startCerbos();
after(() => cerbos.stop());

const principal = {
  id: 'p_1',
  kind: 'user',
  credentialId: 'key_1',
  lane: 'api-key',
  binding: 'bearer',
  tenancy: { tenant: 'acme', workspaces: ['prod', 'dev'], mode: 'live' },
  scopes: ['runs:*'],
  subject: { issuer: 'urn:test', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' },
};
const runs = [];
for (const tenant of ['acme', 'other'])
  for (const workspace of ['prod', 'dev', 'staging'])
    for (const owner of ['p_1', 'p_2'])
      runs.push({ kind: 'run', id: `run_${runs.length}`, tenant, workspace, attributes: { owner } });

const ENGINES = {
  Cerbos: { engine: cerbosEngine(cerbos.url), reason: /^resource\.run\.vdefault$/ },
  Cedar: { engine: cedarEngine(readFileSync(join(folder, 'run.cedar'), 'utf8')), reason: /^(reader|owner-or-dev)$/ },
};

for (const [name, { engine, reason }] of Object.entries(ENGINES)) {
  describe(`${name} behind the decision port`, () => {
    const policies = policyDecider({ engine, timeoutMs: 30_000 });

    test('decides within the reach of the caller, with its reasons', async () => {
      const asked = runs.map((resource) => ({ principal, action: 'runs.cancel', resource }));
      const decisions = await policies.decideAll(asked);
      for (const [index, { tenant, workspace, attributes }] of runs.entries()) {
        const isReached = tenant === 'acme' && workspace !== 'staging';
        const expected = isReached && (attributes.owner === 'p_1' || workspace === 'dev');
        const { allowed, reasons } = decisions[index];
        assert.equal(allowed, expected, JSON.stringify(runs[index]));
        if (expected) assert.match(reasons.join(), reason);
        if (!isReached) assert.deepEqual(reasons, ['outside-tenancy']);
      }
    });

    test('its filter selects the runs that it allows', async () => {
      for (const action of ['runs.read', 'runs.cancel', 'runs.unheard-of']) {
        const filter = await policies.filter({ principal, action, kind: 'run' });
        const decisions = await policies.decideAll(runs.map((resource) => ({ principal, action, resource })));
        for (const [index, run] of runs.entries()) {
          // The query of a list has the tenant of the caller.
          const listed = run.tenant === 'acme' && matchesFilter(filter, run);
          assert.equal(listed, decisions[index].allowed, `${action} ${JSON.stringify(run)}`);
        }
      }
    });

    test('an explanation names the steps', async () => {
      const [own] = runs;
      const { allowed, steps } = await policies.explain({ principal, action: 'runs.cancel', resource: own });
      assert.deepEqual([allowed, steps.map(({ step }) => step)], [true, ['tenancy', 'engine']]);
      assert.match(steps[1].reasons.join(), reason);
    });
  });
}
