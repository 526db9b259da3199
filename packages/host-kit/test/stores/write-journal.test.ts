import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Chance, chance } from '@svc/tools/chance';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { ClaimedDelivery, Settlement } from '../../src/ports/deliveries.ts';
import { BEFORE_ALL_EVENTS, type RunEvent } from '../../src/ports/events.ts';
import type { Run } from '../../src/ports/runs.ts';
import type { Store } from '../../src/ports/store.ts';
import { inspectSqlite } from '../../src/stores/sqlite/index.ts';
import { type JournalRow, journalColumns, journalRowOf } from '../../src/stores/sqlite/journal-rows.ts';
import { openStore } from '../../src/stores/sqlite/open-store.ts';
import { takeOwnership } from '../../src/stores/sqlite/owner.ts';
import { PendingWrites } from '../../src/stores/sqlite/pending-writes.ts';
import { ANY_ROOM, sampleEvent, sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';
import { sampleDelivery, sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Applies the journal often, and never by time. */
const OFTEN = { entries: 6, bytes: 1e9, ms: 1e9, kept: { applications: 2, deliveries: 20, bytes: 1e9 } };
/** Applies the journal when a transaction or a read needs the tables, and at the close. */
const NEVER = { entries: 1e9, bytes: 1e9, ms: 1e9, kept: { applications: 0, deliveries: 0, bytes: 0 } };

function openedStore(path: string, most = NEVER): Store {
  return openStore({ path, owner: takeOwnership({ path }), most });
}

let copies = 0;
/** Copies the files of a store that is open: they are as a killed process leaves them. */
function killed(path: string): string {
  copies += 1;
  const copy = join(folder, `killed-${copies}.db`);
  for (const companion of ['', '-wal']) {
    if (existsSync(`${path}${companion}`)) copyFileSync(`${path}${companion}`, `${copy}${companion}`);
  }
  return copy;
}

const id = fc.string({ minLength: 1, maxLength: 3 });
const count = fc.nat(9);
const nullable = fc.option(fc.string({ maxLength: 5 }));
const rows: fc.Arbitrary<JournalRow> = fc.oneof(
  fc.record({
    kind: fc.constant('events' as const),
    events: fc.array(fc.tuple(id, count, id, id, count, fc.json(), count, count, nullable, nullable, count)),
  }),
  fc.record({
    kind: fc.constant('moves' as const),
    moves: fc.array(fc.tuple(id, count, nullable, nullable, nullable)),
  }),
  fc
    .array(fc.record({ position: fc.nat(30), id, body: fc.uint8Array({ maxLength: 9 }), dueAt: count }))
    .map((each) => ({
      kind: 'deliveries' as const,
      deliveries: each.map(({ position, id: deliveryId, body, dueAt }) => ({
        position,
        delivery: sampleDelivery({ deliveryId, body, dueAt }),
      })),
    })),
  fc.record({ kind: fc.constant('settled' as const), settled: fc.array(fc.nat(30)) }),
  fc.record({ kind: fc.constant('minutes' as const), minutes: fc.array(fc.tuple(count, id, count, count)) }),
);

test('a row of the journal has its entries, with every member', () => {
  fc.assert(
    fc.property(rows, (row) => {
      expect(journalRowOf({ id: 1, ...journalColumns(row) })).toEqual(row);
    }),
  );
});

test('a row of an unknown kind is refused, so that nothing of a newer kit is lost', () => {
  expect(() => journalRowOf({ id: 7, kind: 'later', entries: '[]', bodies: null })).toThrow(
    'write_journal: row 7 has the unknown kind later. Use a newer kit.',
  );
});

test('rows that are undone in the reverse order leave no trace', () => {
  fc.assert(
    fc.property(
      fc.array(distinct(rows), { maxLength: 6 }),
      fc.array(distinct(rows), { maxLength: 6 }),
      (kept, undone) => {
        const [pending, expected] = [new PendingWrites(), new PendingWrites()];
        for (const [index, row] of kept.entries()) for (const writes of [pending, expected]) writes.add(index, row);
        const undos = undone.map((row, index) => pending.add(100 + index, moved(row)));
        for (const undo of undos.toReversed()) undo();
        expect(shown(pending)).toEqual(shown(expected));
      },
    ),
  );
});

/** Positions are given once. */
function distinct(arbitrary: fc.Arbitrary<JournalRow>): fc.Arbitrary<JournalRow> {
  return arbitrary.map((row) =>
    row.kind === 'deliveries'
      ? { ...row, deliveries: [...new Map(row.deliveries.map((each) => [each.position, each])).values()] }
      : row,
  );
}

function moved(row: JournalRow): JournalRow {
  if (row.kind !== 'deliveries') return row;
  return { ...row, deliveries: row.deliveries.map((each) => ({ ...each, position: each.position + 1000 })) };
}

function shown(pending: PendingWrites) {
  const { events, moves, deliveries, deliveryRows, minutes, lastSequences, rows: count, entries, bytes } = pending;
  const maps = [moves, deliveries, deliveryRows, lastSequences].map((map) => new Map<unknown, unknown>(map));
  return { events, maps, minutes, count, entries, bytes };
}

const RUNS = ['run_0', 'run_1', 'run_2'] as const;
const WEBHOOKS = ['whk_0', 'whk_1', 'whk_2'] as const;

/** The answers that a store has to give. */
class Expected {
  readonly runs = new Map<string, Run>();
  readonly events: RunEvent[] = [];
  readonly waiting = new Map<string, { webhookId: string; attempts: number }>();
  readonly dead = new Set<string>();
  readonly removed = new Set<string>();
  delivered = 0;
}

async function started(path: string, most: typeof NEVER) {
  const store = openedStore(path, most);
  const expected = new Expected();
  await store.transaction(async (transaction) => {
    for (const webhookId of WEBHOOKS) {
      await store.subscriptions.insert(sampleSubscription({ webhookId, url: 'https://example.com/' }), transaction);
    }
    for (const runId of RUNS) {
      const run = sampleRun({ runId, status: 'running' });
      await store.runs.insert(run, transaction);
      expected.runs.set(runId, run);
    }
  });
  return { store, expected };
}

/** Does one random thing, and notes it when it is acknowledged. */
function disturbing(store: Store, expected: Expected, luck: Chance) {
  let next = 0;
  let held: ClaimedDelivery[] = [];
  const append = async (runId: string) => {
    const isUndone = luck.happens(0.15);
    const before = expected.runs.get(runId) ?? sampleRun({ runId });
    const events = Array.from({ length: 1 + luck.below(3) }, (_, index) => {
      const sequence = before.lastSequence + 1 + index;
      return { ...sampleEvent(sequence), runId, eventId: `evt_${runId}_${sequence}`, payload: { text: `é${next}` } };
    });
    const status = luck.happens(0.2) ? luck.pick(['running', 'waiting-input'] as const) : before.status;
    const openNodes = luck.happens(0.5) ? [{ nodeId: `n${next}`, attempt: 0 }] : undefined;
    const { openNodes: _, ...rest } = before;
    const lastSequence = before.lastSequence + events.length;
    const run: Run = { ...rest, status, lastSequence, ...(openNodes !== undefined && { openNodes }) };
    const listening = WEBHOOKS.filter((webhookId) => !expected.removed.has(webhookId) && luck.happens(0.6));
    const deliveries = listening.map((webhookId) =>
      sampleDelivery({ deliveryId: `dlv_${next++}`, webhookId, runId, body: Uint8Array.of(1, next % 250) }),
    );
    const done = store.transaction(async (transaction) => {
      const [found] = await store.runs.forAppend([runId], transaction);
      expect(found).toEqual(before);
      await store.deliveries.enqueue(deliveries, transaction);
      await store.events.insert(events, transaction);
      await store.runs.update([run], transaction);
      if (isUndone) throw new Error('undone');
    });
    await done.catch((error: Error) => expect(error.message).toBe('undone'));
    if (isUndone) return;
    expected.runs.set(runId, run);
    expected.events.push(...events);
    for (const { deliveryId, webhookId } of deliveries) expected.waiting.set(deliveryId, { webhookId, attempts: 0 });
  };
  const claim = async () => {
    const claimed = await store.deliveries.claim({
      now: 1e6,
      leaseUntil: 1e9,
      limit: 1 + luck.below(6),
      room: ANY_ROOM,
    });
    for (const { deliveryId, attempts } of claimed) expect(expected.waiting.get(deliveryId)?.attempts).toBe(attempts);
    held.push(...claimed);
  };
  const settle = async () => {
    const ending = held.splice(0, luck.below(8));
    const isUndone = luck.happens(0.15);
    const ends = ending.map((ended) => ({ claim: ended, settlement: settlementOf(ended, luck) }));
    const delivered = ends.filter(({ settlement }) => settlement.kind === 'delivered').length;
    const done = store.transaction(async (transaction) => {
      expect(await store.deliveries.settle(ends, transaction)).toEqual(ends.map(() => true));
      await store.deliverySeries.add([minuteOf(delivered)], transaction);
      if (isUndone) throw new Error('undone');
    });
    await done.catch((error: Error) => expect(error.message).toBe('undone'));
    if (isUndone) {
      held.push(...ending);
      return;
    }
    expected.delivered += delivered;
    for (const { claim: ended, settlement } of ends) noteSettled(expected, ended, settlement);
  };
  const remove = async () => {
    const webhookId = 'whk_2';
    if (expected.removed.has(webhookId)) return;
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, webhookId, transaction));
    expected.removed.add(webhookId);
    held = held.filter((each) => each.webhookId !== webhookId);
    for (const [deliveryId, each] of expected.waiting) {
      if (each.webhookId === webhookId) expected.waiting.delete(deliveryId);
    }
    for (const deliveryId of expected.dead) if (deliveryId.endsWith(webhookId)) expected.dead.delete(deliveryId);
  };
  return async () => {
    const what = luck.next();
    if (what < 0.3) await append(luck.pick(RUNS));
    // These share a commit, of which some are undone.
    else if (what < 0.5) await Promise.all([...RUNS.map(append), settle()]);
    else if (what < 0.7) await claim();
    else if (what < 0.97) await settle();
    else await remove();
  };
}

function settlementOf({ attempts }: ClaimedDelivery, luck: Chance): Settlement {
  const what = luck.next();
  if (what < 0.7) return { kind: 'delivered' };
  if (what < 0.85) return { kind: 'retry', dueAt: 500, attempts: attempts + 1, lastStatus: 500 };
  return { kind: 'dead', at: 900, expiresAt: 1e9, attempts: attempts + 1, lastStatus: 500 };
}

function noteSettled(expected: Expected, { deliveryId, webhookId }: ClaimedDelivery, settlement: Settlement): void {
  if (settlement.kind === 'retry') {
    expected.waiting.set(deliveryId, { webhookId, attempts: settlement.attempts });
    return;
  }
  expected.waiting.delete(deliveryId);
  if (settlement.kind === 'dead') expected.dead.add(`${deliveryId} ${webhookId}`);
}

function minuteOf(delivered: number) {
  const none = { failed: 0, deadLettered: 0, skipped: 0, durationMs: 0 };
  return { webhookId: 'whk_0', minute: 0, delivered, ...none, latency: [delivered, 0, 0, 0, 0, 0, 0, 0] };
}

/** Reads what needs no application of the journal. */
async function expectLog(store: Store, expected: Expected, luck: Chance): Promise<void> {
  for (const [runId, run] of expected.runs) {
    expect(await store.runs.read(TENANCY, runId)).toEqual({ kind: 'found', value: run });
    const events = expected.events.filter((event) => event.runId === runId);
    const [after, limit] = [luck.below(events.length + 2) - 1, 1 + luck.below(9)];
    expect(await store.events.list(run, { after, limit })).toEqual(
      events.filter(({ sequence }) => sequence > after).slice(0, limit),
    );
  }
  const sequences = await store.runs.lastSequences(RUNS);
  expect(new Map(sequences)).toEqual(new Map([...expected.runs].map(([runId, run]) => [runId, run.lastSequence])));
  const all: RunEvent[] = [];
  for (let after = BEFORE_ALL_EVENTS; ; ) {
    const page = await store.events.listAll(TENANCY, { after, limit: 1 + luck.below(9) });
    all.push(...page.events.map(({ event }) => event));
    if (page.last.order === after.order) break;
    after = page.last;
  }
  expect(all).toEqual(expected.events);
  expect(
    (await store.runs.list(TENANCY, { before: undefined, limit: 9 })).map(({ runId }) => runId).toSorted(),
  ).toEqual([...RUNS]);
}

/** Reads the deliveries and the counts, which applies the journal. */
async function expectDeliveries(store: Store, expected: Expected): Promise<void> {
  const waiting: [string, { webhookId: string; attempts: number }][] = [];
  const dead: string[] = [];
  for (const webhookId of WEBHOOKS) {
    for (const { deliveryId, attempts } of await store.deliveries.waiting(webhookId, { limit: 10_000 })) {
      waiting.push([deliveryId, { webhookId, attempts }]);
    }
    const letters = await store.deliveries.deadLetters(webhookId, { limit: 10_000, now: 0 });
    dead.push(...letters.map(({ deliveryId }) => `${deliveryId} ${webhookId}`));
  }
  expect(new Map(waiting)).toEqual(expected.waiting);
  expect(new Set(dead)).toEqual(expected.dead);
  const points = await store.deliverySeries.read(['whk_0'], { from: 0, until: 60_000, stepMs: 60_000 });
  expect(points.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(expected.delivered);
}

test.each([
  ['that is applied often', OFTEN, 1],
  ['that is applied often, other chances', OFTEN, 2],
  ['that is applied for reads and at the end', NEVER, 3],
] as const)(
  'a kill after any transaction loses nothing of a journal %s, and repeats no settled delivery',
  async (_, most, seed) => {
    const luck = chance(seed);
    const path = join(folder, `kills-${seed}.db`);
    const { store, expected } = await started(path, most);
    const disturb = disturbing(store, expected, luck);
    for (let step = 0; step < 80; step += 1) {
      await disturb();
      await expectLog(store, expected, luck);
      if (step % 16 !== 15) continue;
      const copy = killed(path);
      const inspection = inspectSqlite(copy);
      expect(inspection.pending().deliveries).toBe(expected.waiting.size);
      inspection.close();
      const reopened = openedStore(copy);
      await expectLog(reopened, expected, luck);
      await expectDeliveries(reopened, expected);
      const claimed = await reopened.deliveries.claim({ now: 1e6, leaseUntil: 1e9, limit: 10_000, room: ANY_ROOM });
      expect(new Set(claimed.map(({ deliveryId }) => deliveryId))).toEqual(new Set(expected.waiting.keys()));
      await reopened.close();
    }
    await expectDeliveries(store, expected);
    await expectLog(store, expected, luck);
    await store.close();
    const closed = new DatabaseSync(path, { readOnly: true });
    expect(closed.prepare('SELECT count(*) AS rows FROM write_journal').get()).toEqual({ rows: 0 });
    closed.close();
  },
  120_000,
);

test('deliveries are listed and counted while the journal cannot be applied', async () => {
  const path = join(folder, 'unwritable.db');
  const { store } = await started(path, NEVER);
  const due = { dlv_2: 30, dlv_1: 20, dlv_3: 5000 };
  const deliveries = Object.entries(due).map(([deliveryId, dueAt]) =>
    sampleDelivery({ deliveryId, dueAt, webhookId: 'whk_0' }),
  );
  await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
  const read = async () => ({
    waiting: (await store.deliveries.waiting('whk_0', { limit: 2 })).map(({ deliveryId }) => deliveryId),
    next: (await store.deliveries.waiting('whk_0', { after: { dueAt: 30, position: 1 }, limit: 9 })).length,
    queued: await store.deliveries.queued('whk_0', ['dlv_3', 'dlv_9'], 1000),
    backlog: await store.backlog.read({ webhookIds: ['whk_0', 'whk_1'], now: 1000, limit: 9 }),
  });
  const shell = new DatabaseSync(path);
  // As a full disk: rows of the journal cannot be deleted.
  shell.exec(`CREATE TRIGGER full BEFORE DELETE ON write_journal BEGIN SELECT raise(ABORT, 'disk is full'); END`);
  const journalled = await read();
  expect(shell.prepare('SELECT count(*) AS rows FROM deliveries').get()).toEqual({ rows: 0 });
  shell.exec('DROP TRIGGER full');
  shell.close();
  expect(journalled).toMatchObject({ waiting: ['dlv_1', 'dlv_2'], next: 1, backlog: { due: 2, oldestDueAt: 20 } });
  expect(await read()).toEqual(journalled);
  await store.close();
});

test('an event of a sequence that the log has is refused, wherever the log has it', async () => {
  const { store } = await started(join(folder, 'twice.db'), NEVER);
  const event = { ...sampleEvent(0), runId: 'run_0' };
  const insert = () => store.transaction((transaction) => store.events.insert([event], transaction));
  await insert();
  await expect(insert()).rejects.toThrow('Event 0 of run run_0: is stored already.');
  await store.deliveries.waiting('whk_0', { limit: 1 });
  await store.backlog.read({ webhookIds: undefined, now: 0, limit: 1 });
  await expect(insert()).rejects.toThrow('Event 0 of run run_0: is stored already.');
  await store.close();
});

test('long payloads are written to their table at once, behind those of the journal', async () => {
  const { store } = await started(join(folder, 'long.db'), NEVER);
  const payloads = ['short', 'x'.repeat(300_000), 'short again'];
  for (const [sequence, text] of payloads.entries()) {
    const event = { ...sampleEvent(sequence), runId: 'run_0', payload: { text } };
    await store.transaction((transaction) => store.events.insert([event], transaction));
  }
  const { events } = await store.events.listAll(TENANCY, { after: BEFORE_ALL_EVENTS, limit: 9 });
  expect(events.map(({ event }) => event.sequence)).toEqual([0, 1, 2]);
  await store.close();
});
