import { randomBytes } from 'node:crypto';
import { CHECKS, type ConformanceOptions, type Report, runConformance } from '@svc/conformance';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bootConforming, DURATIONS, HOSTS, KEYS } from './hosts.ts';

// Each of them is a host, a suite and much waiting.
vi.setConfig({ maxConcurrency: 2 });

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());

/** Hosts that share a database share their keys, too, and these are not to. */
async function newDatabase(): Promise<string> {
  const name = `conformance_${randomBytes(8).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return postgres.url.replace(/\/[^/]*$/, `/${name}`);
}

/** What was seen to be kept, as `<id> <major>`. */
const kept = new Set<string>();

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
    for (const { id, major, outcome } of report.results) if (outcome === 'passed') kept.add(`${id} ${major}`);
    return report;
  } finally {
    await host.stop();
  }
}

function broken({ results }: Report) {
  return results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'warned')
    .map(({ id, major, failure }) => [id, major, failure]);
}

/** Ids of what was looked at under no major. */
function skipped({ results }: Report): readonly string[] {
  const looked = new Set(results.filter(({ outcome }) => outcome !== 'skipped').map(({ id }) => id));
  return [...new Set(results.map(({ id }) => id))].filter((id) => !looked.has(id)).sort();
}

/** What needs a host of another kind, or a key that may be used up: each of them is looked at below. */
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

/** What this host cannot be asked, because it serves it. */
const SERVED = ['runs.list-unadvertised-404', 'audit.unadvertised-404', 'workspace-files.unadvertised-501'];

const { spare: _, ...withoutSpare } = KEYS;
const BEST_EFFORT = CHECKS.filter(({ id }) => id.startsWith('best-effort.')).map(({ id }) => id);

describe.concurrent('the reference host keeps every rule in both majors', () => {
  const stores = [
    ['SQLite', async () => ({})],
    ['PostgreSQL', async () => ({ store: await newDatabase(), secretKey: randomBytes(32).toString('base64') })],
  ] as const;

  test.each(stores)(
    'when it delivers durably, on %s',
    async (_store, at) => {
      const report = await judge({ ...HOSTS.durable, ...(await at()) }, { keys: withoutSpare });
      expect(broken(report)).toEqual([]);
      const expected = [...OF_OTHER_HOSTS, ...SERVED, ...BEST_EFFORT];
      expect(skipped(report)).toEqual(expected.sort());
    },
    180_000,
  );

  test.each(stores)(
    'when it makes its best effort, on %s',
    async (_store, at) => {
      // Everything else has nothing to do with it.
      const only = ['discovery', 'deliveries', 'best-effort', 'durable', 'dead-letters', 'rotation'];
      const report = await judge({ ...HOSTS['best-effort'], ...(await at()) }, { keys: withoutSpare, only });
      expect([broken(report), skipped(report)]).toEqual([[], []]);
    },
    180_000,
  );

  test('when it has a rate limit', async () => {
    const only = [
      'authorization.rate-limit-429',
      'authorization.rate-limit-details',
      'authorization.rate-limit-before-scope',
      'authorization.rate-limit-per-key',
      'authentication.credential-in-url',
    ];
    const report = await judge(HOSTS.limited, { only, receiver: false });
    expect([broken(report), skipped(report)]).toEqual([[], []]);
  }, 120_000);

  test.each([
    ['asks clients to be of some age', 'floor', 'versions'],
    ['has retired major 1', 'retired', 'versions'],
    ['takes tokens', 'tokens', 'authentication'],
    ['is closed to receivers on this machine', 'closed', 'webhooks'],
  ] as const)(
    'when it %s',
    async (_title, host, area) => {
      const report = await judge(HOSTS[host], { only: [area], receiver: false, keys: withoutSpare });
      expect(broken(report)).toEqual([]);
    },
    60_000,
  );
});

test('every check was looked at, under every major that it has', () => {
  const all = CHECKS.filter(({ id }) => !SERVED.includes(id)).flatMap(({ id, majors }) =>
    majors.map((major) => `${id} ${major}`),
  );
  expect(all.filter((one) => !kept.has(one))).toEqual([]);
});
