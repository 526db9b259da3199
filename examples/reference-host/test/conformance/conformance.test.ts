import { randomBytes } from 'node:crypto';
import { CHECKS, type ConformanceOptions, type Report, runConformance } from '@svc/conformance';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bootConforming, DURATIONS, HOSTS, KEYS } from './hosts.ts';

// Each test boots a host and runs the suite, mostly waiting.
vi.setConfig({ maxConcurrency: 2 });

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());

/** Each host gets a database of its own: hosts that share one share their keys too. */
async function newDatabase(): Promise<string> {
  const name = `conformance_${randomBytes(8).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return postgres.url.replace(/\/[^/]*$/, `/${name}`);
}

/** Checks that have passed, as `<id> <major>`. */
const passed = new Set<string>();

async function judge(changes: object, options: Partial<ConformanceOptions> = {}): Promise<Report> {
  const host = await bootConforming(changes);
  try {
    const report = await runConformance({
      url: host.url,
      keys: KEYS,
      durations: DURATIONS,
      artifactWorkflow: 'artifact',
      ...options,
    });
    for (const { id, major, outcome } of report.results) if (outcome === 'passed') passed.add(`${id} ${major}`);
    return report;
  } finally {
    await host.stop();
  }
}

function failures({ results }: Report) {
  return results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'warned')
    .map(({ id, major, failure }) => [id, major, failure]);
}

/** Returns the ids of checks that were skipped under every major. */
function skipped({ results }: Report): readonly string[] {
  const ran = new Set(results.filter(({ outcome }) => outcome !== 'skipped').map(({ id }) => id));
  return [...new Set(results.map(({ id }) => id))].filter((id) => !ran.has(id)).sort();
}

/** Checks that need another configuration, or the spare key. Other tests below run them. */
const OF_OTHER_HOSTS = [
  'versions.client-floor-426',
  'versions.v1-retired-at-once',
  'authentication.credential-in-url',
  'authentication.resource-metadata',
  'authorization.rate-limit-429',
  'authorization.rate-limit-details',
  'authorization.rate-limit-before-scope',
  'authorization.rate-limit-per-key',
  'webhooks.url-loopback-rejected',
];

/** Checks of the refusal of an optional operation, which this host serves. */
const SERVED = ['runs.list-unadvertised-404', 'audit.unadvertised-404', 'workspace-files.unadvertised-501'];

const { spare: _, ...withoutSpare } = KEYS;
const BEST_EFFORT = CHECKS.filter(({ id }) => id.startsWith('best-effort.')).map(({ id }) => id);

describe.concurrent('the reference host passes every check', () => {
  const stores = [
    ['SQLite', async () => ({})],
    ['PostgreSQL', async () => ({ store: await newDatabase(), secretKey: randomBytes(32).toString('base64') })],
  ] as const;

  test.each(stores)(
    'with durable delivery, on %s',
    async (_store, at) => {
      const report = await judge({ ...HOSTS.durable, ...(await at()) }, { keys: withoutSpare });
      expect(failures(report)).toEqual([]);
      const expected = [...OF_OTHER_HOSTS, ...SERVED, ...BEST_EFFORT];
      expect(skipped(report)).toEqual(expected.sort());
    },
    180_000,
  );

  test.each(stores)(
    'with best-effort delivery, on %s',
    async (_store, at) => {
      // Other areas do not depend on the mode of delivery.
      const only = ['discovery', 'deliveries', 'best-effort', 'durable', 'dead-letters', 'rotation'];
      const report = await judge({ ...HOSTS['best-effort'], ...(await at()) }, { keys: withoutSpare, only });
      expect([failures(report), skipped(report)]).toEqual([[], []]);
    },
    180_000,
  );

  test('with a rate limit', async () => {
    const only = [
      'authorization.rate-limit-429',
      'authorization.rate-limit-details',
      'authorization.rate-limit-before-scope',
      'authorization.rate-limit-per-key',
      'authentication.credential-in-url',
    ];
    const report = await judge(HOSTS.limited, { only, receiver: false });
    expect([failures(report), skipped(report)]).toEqual([[], []]);
  }, 120_000);

  test.each([
    ['a minimum client version', 'floor', 'versions'],
    ['major 1 retired', 'retired', 'versions'],
    ['tokens of an issuer', 'tokens', 'authentication'],
    ['loopback receivers rejected', 'closed', 'webhooks'],
  ] as const)(
    'with %s',
    async (_title, host, area) => {
      const report = await judge(HOSTS[host], { only: [area], receiver: false, keys: withoutSpare });
      expect(failures(report)).toEqual([]);
    },
    60_000,
  );
});

test('every check has passed under every major that it has', () => {
  const all = CHECKS.filter(({ id }) => !SERVED.includes(id)).flatMap(({ id, majors }) =>
    majors.map((major) => `${id} ${major}`),
  );
  expect(all.filter((one) => !passed.has(one))).toEqual([]);
});
