import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { describe, test } from 'node:test';
import { CHECKOUT, documentsOf, EXAMPLE, imageEnvironment, imageInstructions, STOP_MS } from './deploy-files.mjs';

const [kustomization] = documentsOf('kubernetes/kustomization.yaml');
const MANIFESTS = kustomization.resources.flatMap((path) => documentsOf(join('kubernetes', path)));
const named = (kind) => MANIFESTS.find((manifest) => manifest.kind === kind);
const deployment = named('Deployment');
const pod = deployment.spec.template;
const [container] = pod.spec.containers;
const labels = pod.metadata.labels;

const suite = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const moduleOf = ({ apiVersion }) => `kubernetes-models/${apiVersion}`;

describe('the manifests', () => {
  for (const manifest of MANIFESTS) {
    test(`${manifest.kind} ${manifest.metadata.name} is valid by the schema of Kubernetes`, () => {
      const Model = require(moduleOf(manifest))[manifest.kind];
      new Model(manifest).validate();
    });
  }

  test('the schema rejects a wrong value', () => {
    const Model = require(moduleOf(deployment)).Deployment;
    const wrong = { ...deployment, spec: { ...deployment.spec, replicas: 'two' } };
    assert.throws(() => new Model(wrong).validate(), /replicas/);
  });

  test('no manifest has a field that Kubernetes does not know', () => {
    assert.equal(compiled(MANIFESTS), '');
    const wrong = { ...deployment, spec: { ...deployment.spec, minReadySecond: 5 } };
    assert.match(compiled([wrong]), /minReadySecond/);
  });
});

/** Compiles the manifests as TypeScript, in which a field that the type does not have is an error. */
function compiled(manifests) {
  const folder = mkdtempSync(join(suite, '.manifests-'));
  try {
    const lines = manifests.map(
      (manifest, index) =>
        `import type { I${manifest.kind} as T${index} } from '${moduleOf(manifest)}';\n` +
        `export const m${index}: T${index} = ${JSON.stringify(manifest)};\n`,
    );
    const file = join(folder, 'manifests.ts');
    writeFileSync(file, lines.join(''));
    const tsc = join(CHECKOUT, 'node_modules/typescript/bin/tsc');
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--types', ''];
    const args = [tsc, ...options, '--module', 'nodenext', file];
    return spawnSync(execPath, args, { encoding: 'utf8', cwd: folder }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('a rolling update never stops a host before another one is ready', () => {
  const { strategy, replicas } = deployment.spec;
  assert.deepEqual(strategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
  assert.ok(replicas >= 2);
  assert.equal(named('PodDisruptionBudget').spec.maxUnavailable, 1);
});

test('a stopping host gets the time of its drain and its stop', () => {
  const { drainMs } = EXAMPLE.shutdown;
  const { periodSeconds, failureThreshold, timeoutSeconds } = container.readinessProbe;
  assert.equal(container.lifecycle, undefined, 'a preStop hook would take time of the grace period');
  assert.ok(pod.spec.terminationGracePeriodSeconds * 1000 > drainMs + STOP_MS);
  assert.ok(drainMs >= (periodSeconds * failureThreshold + timeoutSeconds) * 1000, 'readyz is asked within the drain');
});

test('each probe names a port and a path of the configured host', () => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  for (const [probe, name] of [
    [startupProbe, 'livez'],
    [livenessProbe, 'livez'],
    [readinessProbe, 'readyz'],
  ]) {
    assert.deepEqual(probe.httpGet, { path: `/host/${EXAMPLE.org}/${name}`, port: 'http' });
  }
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  const metrics = Number(imageEnvironment().OTEL_EXPORTER_PROMETHEUS_PORT);
  assert.deepEqual(ports, { http: EXAMPLE.listen.port, metrics });
});

test('the pods pass the restricted Pod Security Standard', () => {
  assert.equal(named('Namespace').metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted');
  assert.equal(named('Namespace').metadata.name, kustomization.namespace);
  const { runAsNonRoot, runAsUser, seccompProfile } = pod.spec.securityContext;
  assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }]);
  const { text } = imageInstructions().find(({ keyword }) => keyword === 'USER');
  assert.equal(String(runAsUser), text.split(':')[0]);
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.equal(pod.spec.automountServiceAccountToken, false);
});

test('every selector selects the pods, and the configuration is mounted where the image reads it', () => {
  const selectors = [
    deployment.spec.selector.matchLabels,
    named('PodDisruptionBudget').spec.selector.matchLabels,
    ...MANIFESTS.filter(({ kind }) => kind === 'Service').map(({ spec }) => spec.selector),
  ];
  for (const selector of selectors) assert.deepEqual(selector, labels);
  const [generated] = kustomization.secretGenerator;
  const [volume] = pod.spec.volumes;
  assert.equal(volume.secret.secretName, generated.name);
  assert.deepEqual(generated.files, ['host.json']);
  const [mount] = container.volumeMounts;
  assert.equal(mount.mountPath, dirname(imageEnvironment().SVC_HOST_CONFIG));
  assert.equal(kustomization.images[0].name, container.image);
});
