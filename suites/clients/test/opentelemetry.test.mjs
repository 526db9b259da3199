import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bootHost } from './booted-host.mjs';
import { unpackAll } from './tarballs.mjs';

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-telemetry-'));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** Boots the host in a process that has registered an SDK with a copy of the OpenTelemetry API. */
async function recordsWith(apiPath, sdkPath) {
  const preload = join(folder, 'sdk.mjs');
  const source = `
    import api from ${JSON.stringify(pathToFileURL(apiPath).href)};
    import { MeterProvider } from ${JSON.stringify(pathToFileURL(sdkPath).href)};
    api.metrics.setGlobalMeterProvider(new MeterProvider());
  `;
  writeFileSync(preload, source);
  const host = await bootHost({}, ['--import', pathToFileURL(preload).href]);
  await host.stop();
  return host.log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'telemetry.unmatched-api');
}

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const sdk = join(modules, '@opentelemetry/sdk-metrics/build/src/index.js');

test('an SDK with an older copy of the OpenTelemetry API is reported at the start', async () => {
  const api = join(modules, '@opentelemetry/api');
  const { version } = JSON.parse(readFileSync(join(api, 'package.json'), 'utf8'));
  const [record, ...others] = await recordsWith(join(api, 'build/src/index.js'), sdk);
  assert.deepEqual(others, []);
  assert.equal(record.level, 'warn');
  assert.equal(record.found, version);
  assert.match(record.message, /npm ls @opentelemetry\/api/);
});

test('an SDK with the copy of the host is not reported', async () => {
  const api = createRequire(join(env.SVC_CHECKOUT, 'package.json')).resolve('@opentelemetry/api');
  assert.deepEqual(await recordsWith(api, sdk), []);
});

test('the kit has the OpenTelemetry API as a peer, so that it is not nested below the kit', async () => {
  await unpackAll(folder);
  const kit = JSON.parse(readFileSync(join(folder, 'node_modules/@svc/host-kit/package.json'), 'utf8'));
  assert.equal(kit.dependencies['@opentelemetry/api'], undefined);
  assert.match(kit.peerDependencies['@opentelemetry/api'], /^\^1\./);
});
