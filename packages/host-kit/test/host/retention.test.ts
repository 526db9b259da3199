import { apiKeys } from '@svc/auth/api-key';
import { checkpointFile, createHost, type HostOptions, type Run, type Store, systemClock } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { type RemoveOldServices, removeOldRuns } from '../../src/host/remove-old.ts';
import { retentionOf } from '../../src/host/retention.ts';
import { removeEndedRuns } from '../../src/runs/remove-ended.ts';
import { sampleEvent, sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2027, 0, 1);
const clock = { ...systemClock, now: () => NOW };
const goOn = new AbortController().signal;
const sink = checkpointFile('copies.jsonl');
const signer = { publicKey: 'key', sign: async () => new Uint8Array(64) };

describe('createHost rejects', () => {
  const families = { deadLetter: { retentionDays: 30 } };
  test.each<[string, Partial<HostOptions>, string]>([
    ['no day', { retention: { runDays: 0 } }, 'retention.runDays: must be a whole number of days from 1 to 36500'],
    ['half a day', { retention: { runDays: 1.5 } }, 'retention.runDays: must be a whole number of days'],
    ['no number', { retention: { runDays: Number.NaN } }, 'retention.runDays: must be a whole number of days'],
    ['too many days', { retention: { runDays: 36_501 } }, 'retention.runDays: must be a whole number of days'],
    ['effects of less than 14 days', { retention: { effectDays: 13 } }, 'retention.effectDays: must be a whole number'],
    [
      'a series of more than a month',
      { retention: { deliverySeriesDays: 32 } },
      'retention.deliverySeriesDays: must be a whole number of days from 1 to 31',
    ],
    [
      'uses of majors of more than 400 days',
      { retention: { versionUseDays: 401 } },
      'retention.versionUseDays: must be a whole number of days from 1 to 400',
    ],
    [
      'runs that are removed before stored replies',
      { retention: { runDays: 1, replyHours: 25 } },
      'retention.runDays: must be at least 2, because replies that name a run',
    ],
    [
      'failed runs that are removed before the advertised time',
      { retention: { runDays: 29 }, discovery: { families } },
      'retention.runDays: must be at least 30, the time for which discovery.families.deadLetter promises',
    ],
    [
      'audit days without an audit log',
      { retention: { auditDays: 9 } },
      'retention.auditDays: needs an audit.checkpoi',
    ],
    [
      'audit days with a sink that finds no earlier checkpoint',
      {
        retention: { auditDays: 9 },
        audit: { signer, checkpointSink: { append: sink.append, last: sink.last } },
      },
      'retention.auditDays: needs an audit.checkpointSink with lastUpTo',
    ],
    ['an unknown time', { retention: { eventDays: 9 } as object }, 'eventDays'],
  ])('%s', (_what, options, message) => {
    const authenticate = [apiKeys({ ['k'.repeat(32)]: { tenant: 'acme', scopes: [] } })];
    const base = { store: memoryStore(), authenticate, secretKey: new Uint8Array(32) };
    const engine = { execute: () => new Promise<never>(() => {}) };
    expect(() => createHost({ ...base, engine, ...options })).toThrow(message);
  });

  test('nothing that the interface allows', () => {
    const allowed = {
      replyHours: 24,
      runDays: 30,
      auditDays: 1,
      effectDays: 14,
      deliverySeriesDays: 31,
      versionUseDays: 400,
    };
    const discovery = { families };
    const options = { retention: allowed, discovery, audit: { signer, checkpointSink: sink } };
    expect(retentionOf(options)).toEqual(allowed);
    const kept = { replyHours: 24, effectDays: 30, deliverySeriesDays: 7, versionUseDays: 90 };
    const defaults = { runDays: undefined, auditDays: undefined, ...kept };
    expect(retentionOf({})).toEqual(defaults);
  });
});

test('a clock that is ahead of that of the store removes nothing', async () => {
  const store = memoryStore();
  await seed(store, 3, NOW - 10 * DAY_MS);
  const services = {
    ...{ store, log: () => {}, audit: undefined, recordAudit: async () => {} },
    observe: { removed: () => {} },
    retention: { runDays: 30, auditDays: undefined, effectDays: 30, deliverySeriesDays: 7, versionUseDays: 90 },
  };
  const at = (hostAhead: number, storeAhead: number) =>
    removeOldRuns({
      ...services,
      clock: { ...clock, now: () => NOW + hostAhead },
      storeClock: { now: () => NOW, read: async () => NOW + storeAhead, aheadMs: () => undefined },
    } as unknown as RemoveOldServices);
  await at(365 * DAY_MS, 0)(goOn);
  await at(0, 365 * DAY_MS)(goOn);
  expect(await count(store)).toBe(3);
  await at(365 * DAY_MS, 365 * DAY_MS)(goOn);
  expect(await count(store)).toBe(0);
});

describe('on PostgreSQL', async () => {
  const postgres = await startPostgres();
  let schemas = 0;
  const opened: Store[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await postgres.stop();
  });
  const twoHosts = async () => {
    const schema = `retention_${schemas++}`;
    const stores = [];
    for (let host = 0; host < 2; host++)
      stores.push(await postgresStore({ url: postgres.url, schema, connections: 4 }));
    opened.push(...stores);
    const [first, second] = stores;
    if (first === undefined || second === undefined) throw new Error('no store was opened');
    return { first, second };
  };

  test('two hosts remove the same runs together, each once, and an aborted round is continued', async () => {
    const { first, second } = await twoHosts();
    await seed(first, 1000, NOW - 10 * DAY_MS);
    const round = (store: Store, signal: AbortSignal) =>
      removeEndedRuns({ store, clock, endedBefore: NOW - DAY_MS }, signal);
    const aborted = new AbortController();
    const { removeEnded } = first.runs;
    const interrupted = {
      ...first,
      runs: {
        ...first.runs,
        removeEnded: async (request: Parameters<typeof removeEnded>[0]) => {
          aborted.abort();
          return await removeEnded(request);
        },
      },
    };
    const begun = await round(interrupted, aborted.signal);
    expect(begun).toEqual({ runs: 200, runRecords: 0 });
    const both = await Promise.all([round(first, goOn), round(second, goOn)]);
    const rest = await round(first, goOn);
    const sum = [begun, ...both, rest].reduce((all, { runs }) => all + runs, 0);
    expect(sum).toBe(1000);
    expect(await count(second)).toBe(0);
    expect((await second.events.listAll(TENANCY, { after: { order: 0, index: 0 }, limit: 9 })).last.order).toBe(0);
  });

  test('a run that is being forked is not removed, whichever transaction ends first', async () => {
    const { first, second } = await twoHosts();
    await seed(first, 1, 1);
    const fork = sampleRun({ runId: 'run_fork', fork: { sourceRunId: 'run_0', fromSeq: 0, mode: 'branch' } });
    const remove = () => second.runs.removeEnded({ endedBefore: NOW, limit: 9 });
    await first.transaction(async (transaction) => {
      await first.runs.readForChange(TENANCY, 'run_0', transaction);
      expect(await remove()).toBe(0);
      await first.runs.insert(fork, transaction);
    });
    expect(await remove()).toBe(0);
    expect(await count(second)).toBe(2);
  });
});

async function seed(store: Store, runs: number, completedAt: number): Promise<void> {
  await store.transaction(async (transaction) => {
    for (let index = 0; index < runs; index++) {
      const runId = `run_${index}`;
      const run: Run = sampleRun({ runId, status: 'completed', lastSequence: 0, startedAt: 1, completedAt });
      await store.runs.insert(run, transaction);
      await store.events.insert([{ ...sampleEvent(0), runId, eventId: `evt_${index}` }], transaction);
    }
  });
}

async function count(store: Store): Promise<number> {
  return (await store.runs.list(TENANCY, { before: undefined, limit: 9999 })).length;
}
