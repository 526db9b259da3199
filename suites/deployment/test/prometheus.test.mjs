import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DEPLOY, imageEnvironment, jsonOf, yamlOf } from './deploy-files.mjs';

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-rules-'));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs promtool, and returns its output when it accepts its input. */
function promtool(...args) {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
  assert.equal(error, undefined, 'promtool is missing: install the Debian package prometheus');
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

const RULES = join(DEPLOY, 'prometheus/rules.yml');
const ALERTS = yamlOf('prometheus/rules.yml').groups.flatMap(({ rules }) => rules);

for (const name of ['prometheus.yml', 'prometheus-kubernetes.yml']) {
  test(`promtool accepts ${name} with its rules`, () => {
    const output = promtool('check', 'config', join(DEPLOY, 'prometheus', name));
    assert.match(output, new RegExp(`${ALERTS.length} rules found`));
  });
}

test('promtool accepts every query of the board', () => {
  const rules = jsonOf('grafana/board.json')
    .panels.flatMap(({ targets = [] }) => targets)
    .map(({ expr }, index) => ({ record: `board_${index}`, expr: expr.replaceAll('$__rate_interval', '1m') }));
  assert.ok(rules.length > 20);
  const file = join(folder, 'board.json');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules }] }));
  promtool('check', 'rules', file);
});

test('Prometheus reads the port on which the image serves metrics', () => {
  const port = imageEnvironment().OTEL_EXPORTER_PROMETHEUS_PORT;
  const [compose] = yamlOf('prometheus/prometheus.yml').scrape_configs;
  assert.deepEqual(compose.static_configs, [{ targets: [`host:${port}`] }]);
  const [kubernetes] = yamlOf('prometheus/prometheus-kubernetes.yml').scrape_configs;
  assert.equal(String(kubernetes.dns_sd_configs[0].port), port);
});

const of = (name, labels = '') => `${name}{job="svc-host"${labels}}`;
const AGE = of('svc_webhook_queue_oldest_due_age');
const ATTEMPTS = of('svc_webhook_active_attempts');
const DEAD = of('svc_webhook_dead_letters_total', ',svc_webhook_cause="gone"');
const MOVED = (to) => of('svc_webhook_subscription_transitions_total', `,svc_state_to="${to}"`);
const AUDIT = of('svc_audit_failures_total', ',svc_audit_step="seal"');
const ISSUER_AWAY = of('svc_auth_incidents_total', ',svc_auth_incident="issuer-away"');
const BUDGET = of('svc_auth_incidents_total', ',svc_auth_incident="budget-exhausted"');
const REQUESTS = (labels) => of('http_server_request_duration_count', labels);
const SNAPSHOT = of('svc_store_oldest_snapshot_age');
const COMMITS = (le) => of('svc_store_transaction_duration_bucket', `,le="${le}"`);

/** Series in promtool's notation, a value a minute, and whether the alert fires after 20 minutes. */
const CASES = [
  ['SvcHostDown', 'a host that does not answer', true, { [of('up')]: '1x10 0x10' }],
  ['SvcHostDown', 'a job without hosts', true, {}],
  ['SvcHostDown', 'a host that answers', false, { [of('up')]: '1x20' }],
  ['SvcDeliveriesLate', 'a growing age and free places', true, { [AGE]: '0+60x20', [ATTEMPTS]: '1x20' }],
  ['SvcDeliveriesLate', 'a growing age of busy hosts', false, { [AGE]: '0+60x20', [ATTEMPTS]: '60x20' }],
  ['SvcDeliveriesLate', 'an age that shrinks', false, { [AGE]: '4000-60x20', [ATTEMPTS]: '1x20' }],
  ['SvcDeadLetters', 'the first dead letter of a host', true, { [DEAD]: '_x10 1x10' }],
  ['SvcDeadLetters', 'one more dead letter', true, { [DEAD]: '4x10 5x10' }],
  ['SvcDeadLetters', 'dead letters of an earlier hour', false, { [DEAD]: '4x20' }],
  ['SvcSubscriptionFailed', 'the first failed subscription', true, { [MOVED('failed')]: '_x10 1x10' }],
  ['SvcSubscriptionFailed', 'one more failed subscription', true, { [MOVED('failed')]: '1x10 2x10' }],
  ['SvcSubscriptionFailed', 'a paused subscription', false, { [MOVED('paused')]: '_x10 1x10' }],
  ['SvcAuthIncident', 'the first incident', true, { [ISSUER_AWAY]: '_x10 1x10' }],
  ['SvcAuthIncident', 'one more incident', true, { [ISSUER_AWAY]: '1x10 2x10' }],
  ['SvcAuthIncident', 'incidents of an earlier hour', false, { [ISSUER_AWAY]: '3x20' }],
  ['SvcAuthIncident', 'a client over its budget', false, { [BUDGET]: '1x10 2x10' }],
  ['SvcAuditFailures', 'the first failure', true, { [AUDIT]: '_x10 1x10' }],
  ['SvcAuditFailures', 'one more failure', true, { [AUDIT]: '1x10 2x10' }],
  ['SvcAuditFailures', 'failures of an earlier hour', false, { [AUDIT]: '3x20' }],
  [
    'SvcRequestErrors',
    'two in a hundred requests',
    true,
    { [REQUESTS(',error_type="500"')]: '0+2x20', [REQUESTS('')]: '0+98x20' },
  ],
  ['SvcRequestErrors', 'requests without an error', false, { [REQUESTS('')]: '0+100x20' }],
  [
    'SvcStoreSlow',
    'transactions above a second',
    true,
    { [COMMITS('1')]: '0x20', [COMMITS('2.5')]: '0+9x20', [COMMITS('+Inf')]: '0+9x20' },
  ],
  ['SvcStoreSlow', 'transactions below a second', false, { [COMMITS('1')]: '0+9x20', [COMMITS('+Inf')]: '0+9x20' }],
  ['SvcSnapshotHeld', 'a transaction that has been open for a quarter of an hour', true, { [SNAPSHOT]: '900x20' }],
  ['SvcSnapshotHeld', 'a backup of five minutes', false, { [SNAPSHOT]: '300x20' }],
];

describe('alerts', () => {
  for (const [alertname, title, fires, series] of CASES) {
    test(`${alertname} ${fires ? 'fires' : 'does not fire'} for ${title}`, () => {
      const file = join(folder, 'alerts.json');
      const firing = {
        expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"})`,
        eval_time: '20m',
        exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
      };
      const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
      const tests = [{ interval: '1m', input_series, promql_expr_test: [firing] }];
      writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
      promtool('test', 'rules', file);
    });
  }

  test('each alert has a case in which it fires, and one in which it does not', () => {
    const names = ALERTS.map(({ alert }) => alert).sort();
    for (const wanted of [true, false]) {
      const tested = CASES.filter(([, , fires]) => fires === wanted).map(([alertname]) => alertname);
      assert.deepEqual([...new Set(tested)].sort(), names);
    }
  });
});
