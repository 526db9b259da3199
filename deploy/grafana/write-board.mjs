/**
 * Writes `board.json`, the Grafana board of a host, from the table of its metrics. Run it with Node 24:
 * `node deploy/grafana/write-board.mjs`. With `--check` it writes nothing, and fails when the board is not current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { METRICS } from '../../packages/host-kit/src/telemetry/metrics.ts';

const FILE = new URL('board.json', import.meta.url);

/** Each row of the board: its title, and how the names of its metrics begin. */
const ROWS = [
  ['Requests', 'http.'],
  ['Authentication', 'svc.auth.'],
  ['Versions', 'svc.version.'],
  ['Mirrored reads', 'svc.mirror.'],
  ['Deliveries', 'svc.webhook.'],
  ['Triggers', 'svc.trigger.'],
  ['Runs', 'svc.run.'],
  ['Events', 'svc.event.'],
  ['Store', 'svc.store.'],
  ['Retention', 'svc.retention.'],
  ['Audit log', 'svc.audit.'],
  ['Host', 'svc.host.'],
];

/** Metrics of the whole database: every host that shares it reports the same figure. */
const OF_THE_DATABASE = [
  'svc.webhook.queue.due',
  'svc.webhook.queue.oldest_due_age',
  'svc.trigger.waiting',
  'svc.trigger.dead_letters',
  'svc.store.oldest_snapshot_age',
];

/** Metrics that have no sum over the hosts, and may be negative. */
const OF_A_HOST = ['svc.host.clock_skew'];

/** The names of units in Grafana. A unit in braces is a plain number. */
const UNITS = { s: 's', By: 'bytes' };

const SELECTOR = '{job=~"$job",instance=~"$instance"}';
const QUANTILES = [0.5, 0.95, 0.99];
const WIDTH = 24;
const PANEL = { w: 8, h: 8 };
const SOURCE = { type: 'prometheus', uid: '$' + '{datasource}' };

/**
 * Returns the name of a metric in Prometheus, without the suffix of a series of a histogram.
 *
 * @param {{ name: string, kind: string }} metric
 */
export function prometheusName({ name, kind }) {
  return name.replaceAll('.', '_') + (kind === 'counter' ? '_total' : '');
}

/** Makes the board. Every metric of the table has a panel. */
export function board() {
  const panels = [];
  let y = 0;
  const placed = new Set();
  for (const [title, prefix] of ROWS) {
    const metrics = Object.values(METRICS).filter(({ name }) => name.startsWith(prefix));
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: WIDTH, h: 1 } });
    y += 1;
    for (const [index, metric] of metrics.entries()) {
      const x = (index * PANEL.w) % WIDTH;
      if (index > 0 && x === 0) y += PANEL.h;
      panels.push(panelOf(metric, panels.length + 1, { x, y, ...PANEL }));
      placed.add(metric.name);
    }
    y += PANEL.h;
  }
  const left = Object.values(METRICS).filter(({ name }) => !placed.has(name));
  if (left.length > 0) throw new Error(`${left[0].name}: has no row. Add its prefix to ROWS.`);
  return {
    uid: 'svc-host',
    title: 'svc host',
    tags: ['svc'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: VARIABLES },
    panels,
  };
}

const VARIABLES = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
  labelVariable('job', 'Job', 'label_values(svc_store_transaction_duration_count, job)'),
  labelVariable('instance', 'Host', 'label_values(svc_store_transaction_duration_count{job=~"$job"}, instance)'),
];

function labelVariable(name, label, query) {
  const all = { includeAll: true, multi: true, current: { text: 'All', value: '$__all' } };
  return { name, label, type: 'query', datasource: SOURCE, query: { query, refId: name }, refresh: 2, ...all };
}

function panelOf(metric, id, gridPos) {
  const { name, unit, description } = metric;
  const targets = queriesOf(metric).map((query, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: SOURCE,
    ...query,
  }));
  return {
    id,
    type: 'timeseries',
    title: name,
    description,
    gridPos,
    datasource: SOURCE,
    fieldConfig: {
      defaults: { unit: UNITS[unit] ?? 'short', ...(!OF_A_HOST.includes(name) && { min: 0 }) },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets,
  };
}

/** The queries of a panel: quantiles, a rate by the attributes, or a sum over the hosts. */
function queriesOf(metric) {
  const series = prometheusName(metric);
  if (metric.kind === 'histogram') {
    return QUANTILES.map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(${series}_bucket${SELECTOR}[$__rate_interval])))`,
      legendFormat: `p${quantile * 100}`,
    }));
  }
  const labels = metric.attributes.map((attribute) => attribute.replaceAll('.', '_'));
  const by = labels.length > 0 ? ` by (${labels.join(', ')})` : '';
  const legendFormat = labels.length > 0 ? labels.map((label) => `{{${label}}}`).join(' ') : metric.name;
  if (metric.kind === 'counter') {
    return [{ expr: `sum${by} (rate(${series}${SELECTOR}[$__rate_interval]))`, legendFormat: `${legendFormat} per s` }];
  }
  if (OF_A_HOST.includes(metric.name)) {
    return [{ expr: `max by (instance) (${series}${SELECTOR})`, legendFormat: '{{instance}}' }];
  }
  const overHosts = OF_THE_DATABASE.includes(metric.name) ? 'max' : 'sum';
  return [{ expr: `${overHosts}${by} (${series}${SELECTOR})`, legendFormat }];
}

if (import.meta.main) {
  const text = `${JSON.stringify(board(), null, 2)}\n`;
  if (!process.argv.includes('--check')) writeFileSync(FILE, text);
  else if (readFileSync(FILE, 'utf8') !== text) {
    console.error('deploy/grafana/board.json is not current. Run `npm run generate`.');
    process.exitCode = 1;
  }
}
