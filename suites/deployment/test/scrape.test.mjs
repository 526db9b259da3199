// Boots a host as the image does, on a PostgreSQL that asks for a password, causes everything that it measures, and
// reads its metrics as Prometheus does.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { prometheusName } from '../../../deploy/grafana/write-board.mjs';
import { METRICS } from '../../../packages/host-kit/src/telemetry/metrics.ts';
import { freePort } from '../../../tools/free-port.ts';
import { documentsOf, EXAMPLE, jsonOf, yamlOf } from './deploy-files.mjs';
import { bootImage, filledConfiguration, guardedPostgres, KEY, layOutImage } from './image-host.mjs';

const PASSWORD = 'of-the-test';
const DEADLINE_MS = 30_000;
const CLEANUP = [];
let host;
let postgres;
let metricsUrl;

before(async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-scrape-'));
  CLEANUP.push(() => rmSync(root, { recursive: true, force: true }));
  await layOutImage(root);
  postgres = await guardedPostgres(PASSWORD);
  CLEANUP.push(postgres.stop);
  const port = await freePort();
  const file = filledConfiguration(root, {
    listen: { host: '127.0.0.1', port: await freePort() },
    store: postgres.url,
    egress: { allowLoopback: true },
    rateLimit: { limit: 10_000, windowSeconds: 60, refusals: { limit: 50, windowSeconds: 60 } },
    audit: { checkpointIntervalEntries: 1, checkpointIntervalSeconds: 1 },
    webhooks: {
      retryPolicy: { maxAttempts: 2, backoff: 'none', delayMs: 0 },
      circuit: { failureThreshold: 1 },
      attemptTimeoutMs: 1000,
    },
    protocol: { mirror: { share: 1, maxConcurrent: 1 } },
    triggers: {},
    shutdown: { drainMs: 0 },
  });
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  const addresses = { OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1', OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
  host = await bootImage(root, file, { ...addresses, PGPASSWORD: PASSWORD });
  CLEANUP.push(host.stop);
  await useTheHost();
});

after(async () => {
  for (const clean of CLEANUP.reverse()) await clean();
});

async function call(path, { major = '1', body, method = body === undefined ? 'GET' : 'POST' } = {}) {
  const response = await fetch(host.url + path, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'svc-version': major, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}

/** The series of a scrape: the name of each, and its labels with their values. */
async function scrape() {
  const text = await (await fetch(metricsUrl)).text();
  return [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)].map(([, name, labels = '']) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
  }));
}

/** Waits until a scrape has a series of the metric, with these labels. */
async function appears(wanted, labels = {}) {
  const fits = ({ name, labels: found }) =>
    name === wanted && Object.entries(labels).every(([key, value]) => found[key] === value);
  for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await wait(100)) {
    if ((await scrape()).some(fits)) return;
  }
  assert.fail(`${wanted} ${JSON.stringify(labels)}: is in no scrape. Log:\n${host.log.slice(-5).join('\n')}`);
}

/**
 * Causes every metric: deliveries that fail, runs, streams, mirrored reads, a trigger, a store that loses two of its tables
 * for a while, and guessed keys.
 */
async function useTheHost() {
  const receiver = createServer((request, response) => {
    if (request.url !== '/hangs') response.writeHead(500).end();
  });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  CLEANUP.push(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const events = ['run.completed'];
  const url = `http://127.0.0.1:${receiver.address().port}/`;
  const bestEffort = await call('/v1/webhooks', { body: { url, events, tenantId: 'acme-prod' } });
  const durable = await call('/webhooks', { major: '2', body: { url, events } });
  const hanging = await call('/webhooks', { major: '2', body: { url: `${url}hangs`, events } });
  assert.deepEqual([bestEffort.status, durable.status, hanging.status], [201, 201, 201]);
  const run = () => call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
  const { body } = await run();
  await call(`/v1/runs/${body.runId}/events`);
  await appears('svc_webhook_circuit_transitions_total');
  await run();
  await appears('svc_webhook_skipped_total');
  await appears('svc_webhook_dead_letters_total');
  const id = encodeURIComponent(durable.body.webhookId);
  const paused = await call(`/host/${EXAMPLE.org}/webhooks/${id}/pause`, { method: 'POST', body: {} });
  assert.equal(paused.status, 200, JSON.stringify(paused.body));
  // One comparison at a time: of reads that come together, one is compared.
  await Promise.all(Array.from({ length: 20 }, () => call(`/v1/runs/${body.runId}`)));
  await startByTrigger();
  await postgres.query('ALTER TABLE runs RENAME TO runs_away');
  await call(`/v1/runs/${body.runId}`);
  await postgres.query('ALTER TABLE runs_away RENAME TO runs');
  await postgres.query('ALTER TABLE audit_entries RENAME TO audit_entries_away');
  await run();
  await appears('svc_audit_failures_total', { svc_audit_step: 'write' });
  await postgres.query('ALTER TABLE audit_entries_away RENAME TO audit_entries');
  // More guesses than the budget of their address.
  const guess = { headers: { authorization: 'Bearer svc_live_guessed' } };
  for (let count = 0; count < 60; count++) await fetch(`${host.url}/v1/runs/none`, guess);
}

async function startByTrigger() {
  const mapping = { workflowId: 'echo', inputs: {} };
  const registration = { source: 'webhook', webhook: { preset: 'github' }, mapping };
  const trigger = await call('/trigger-subscriptions', { major: '2', body: registration });
  assert.equal(trigger.status, 201, JSON.stringify(trigger.body));
  const { binding, secret } = trigger.body;
  const signature = createHmac('sha256', secret).update('{}').digest('hex');
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
  const taken = await fetch(host.url + new URL(binding.ingestUrl).pathname, { method: 'POST', headers, body: '{}' });
  assert.equal(taken.status, 202);
}

/** The names of the metrics in an expression, and the labels that it selects or groups by. */
function namesIn(expression) {
  const braces = [...expression.matchAll(/\{([^}]*)\}/g)].map(([, text]) => text);
  const groups = [...expression.matchAll(/\b(?:by|on|without) ?\(([^)]*)\)/g)].map(([, text]) => text);
  const bare = expression.replace(/\{[^}]*\}|\b(?:by|on|without) ?\([^)]*\)/g, ' ');
  const labels = [
    ...braces.flatMap((text) => text.match(/\w+(?=[!=])/g) ?? []),
    ...(groups.join(',').match(/\w+/g) ?? []),
  ];
  return { metrics: bare.match(/\b(?:svc|http)_\w+/g) ?? [], labels };
}

/** Labels that Prometheus itself adds to every series. */
const OF_PROMETHEUS = ['job', 'instance'];

test('the probes of the manifests answer', async () => {
  const deployment = documentsOf('kubernetes/deployment.yaml')[0];
  const { startupProbe, livenessProbe, readinessProbe } = deployment.spec.template.spec.containers[0];
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
    assert.equal((await fetch(host.url + httpGet.path)).status, 200, httpGet.path);
  }
});

/**
 * Metrics that this host does not have: of SQLite, of a host that lost the key of its secrets, of one that is old enough to
 * have removed a record, and of one whose majors differ.
 */
const OF_OTHER_HOSTS = ['svc.store.log.size', 'svc.webhook.held', 'svc.retention.removed', 'svc.mirror.different'];

test('every metric of the table is scraped, under the name that the board gives it', async () => {
  const here = Object.values(METRICS).filter(({ name }) => !OF_OTHER_HOSTS.includes(name));
  assert.equal(here.length + OF_OTHER_HOSTS.length, Object.keys(METRICS).length);
  for (const metric of here) {
    await appears(prometheusName(metric) + (metric.kind === 'histogram' ? '_count' : ''));
  }
});

const EXPRESSIONS = [
  ...jsonOf('grafana/board.json').panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr])),
  ...yamlOf('prometheus/rules.yml').groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr])),
].filter(([title, expr]) => !expr.startsWith('up{') && !OF_OTHER_HOSTS.includes(title));

test('every metric that the board and the alerts name is scraped, with the labels that they use', async () => {
  assert.ok(EXPRESSIONS.length > 25);
  const series = await scrape();
  const known = new Set(
    Object.values(METRICS).flatMap(({ attributes }) => attributes.map((name) => name.replaceAll('.', '_'))),
  );
  for (const [title, expression] of EXPRESSIONS) {
    const { metrics, labels } = namesIn(expression);
    assert.ok(metrics.length > 0, title);
    for (const name of metrics)
      assert.ok(
        series.some((one) => one.name === name),
        `${title}: ${name}`,
      );
    for (const label of labels.filter((one) => !OF_PROMETHEUS.includes(one) && one !== 'le')) {
      assert.ok(known.has(label), `${title}: ${label}`);
    }
  }
});

test('the labels that the alerts select are those of real failures', async () => {
  await appears('http_server_request_duration_count', { error_type: '500' });
  await appears('svc_webhook_dead_letters_total', { svc_webhook_cause: 'retries-exhausted' });
  await appears('svc_webhook_subscription_transitions_total', { svc_state_to: 'paused' });
  await appears('svc_audit_failures_total', { svc_audit_step: 'write' });
});

test('the host does not warn about the copy of the OpenTelemetry API that it finds', () => {
  assert.deepEqual(
    host.log.filter((line) => line.includes('telemetry.unmatched-api')),
    [],
  );
});
