import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ed25519Signer, merkleTree, sealed, verifyAudit } from '@svc/auth/audit';
import { type CheckpointSink, checkpointFile, type Store } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { removeOldEntries } from '../../src/audit/remove-entries.ts';
import { systemClock } from '../../src/ports/clock.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2027, 0, 1);
const folder = mkdtempSync(join(tmpdir(), 'remove-entries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `${++files}`);
const signer = await ed25519Signer(
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
const publicKeys = [signer.publicKey];
const clock = { ...systemClock, now: () => NOW };
const whole = { fromSeq: 1, toSeq: Number.MAX_SAFE_INTEGER, publicKeys };

/** A log with an entry a day for the last 100 days, and a checkpoint after every tenth. */
async function logOf(store: Store, sink?: CheckpointSink, heldFrom = 0): Promise<void> {
  for (let day = 1; day <= 100; day++) {
    const occurredAt = new Date(NOW - (100 - day) * DAY_MS - 1).toISOString();
    const fact = { action: 'run.read', actor: 'p_1', target: null, occurredAt, details: { day } };
    await store.transaction((transaction) => store.audit.append([fact], transaction));
    if (day % 10 !== 0) continue;
    const entries = await store.audit.unsealed(10);
    const tree = merkleTree();
    for (const { hash } of entries) tree.add(hash);
    const unsigned = { checkpoint: `ckp_${day}`, atSequence: day, merkleRoot: tree.root() };
    const checkpoint = await sealed(unsigned, signer);
    if (day >= heldFrom) await sink?.append({ ...checkpoint, hash: entries.at(-1)?.hash ?? '' });
    const leaves = { level: 0, first: day - 10, hashes: entries.map(({ hash }) => hash) };
    const growth = { from: day - 10, runs: [leaves], postings: [] };
    await store.transaction((transaction) => store.audit.seal(checkpoint, day - 10, growth, transaction));
  }
}

const removal = (store: Store, sink: CheckpointSink, keptDays: number) =>
  removeOldEntries(
    {
      ...{ store, sink, clock, publicKeys, before: NOW - keptDays * DAY_MS },
      recordAudit: (fact, transaction) => store.audit.append([fact], transaction),
    },
    new AbortController().signal,
  );

async function sequences(store: Store): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { atSequence } of store.audit.entries(0, 999)) found.push(atSequence);
  return found;
}

describe.each([
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(newPath())],
])('a log in %s', (_name, open) => {
  test('is removed up to the last checkpoint of which every entry is old, and verifies from there', async () => {
    const store = open();
    const sink = checkpointFile(newPath());
    await logOf(store, sink);
    // Entries 1 to 64 are older than 35 days. The checkpoint before entry 64 is at 60, with 59 entries and 5 checkpoints before it.
    expect(await removal(store, sink, 35)).toBe(64);
    expect((await sequences(store))[0]).toBe(60);
    const result = await verifyAudit(store.audit, whole);
    expect(result).toMatchObject({ fromSeq: 61, chainValid: true, checkpointsValid: true, anomalies: [] });
    expect(result.start?.checkpoint).toBe('ckp_60');
    expect(result.checkpoints.map(({ atSequence }) => atSequence)).toEqual([60, 70, 80, 90, 100]);
    const facts: unknown[] = [];
    for await (const { action, details } of store.audit.entries(101, 999)) facts.push({ action, details });
    expect(facts).toEqual([{ action: 'audit.remove', details: { startsWith: 'ckp_60', atSequence: 60 } }]);
    expect(await removal(store, sink, 35)).toBe(0);
    expect(await removal(store, sink, 15)).toBeGreaterThan(0);
    expect((await verifyAudit(store.audit, whole)).start?.checkpoint).toBe('ckp_80');
    await store.close();
  });

  test('keeps what only the store has a checkpoint of', async () => {
    const store = open();
    const sink = checkpointFile(newPath());
    await logOf(store, sink, 80);
    expect(await removal(store, sink, 35)).toBe(0);
    expect(await removal(store, checkpointFile(newPath()), 1)).toBe(0);
    const { append, last } = sink;
    expect(await removal(store, { append, last }, 1)).toBe(0);
    expect((await sequences(store)).length).toBe(100);
    await store.close();
  });

  test('keeps everything when the sink has another log, or fails', async () => {
    const store = open();
    await logOf(store);
    const foreign = checkpointFile(newPath());
    const other = memoryStore();
    await other.transaction((transaction) =>
      other.audit.append(
        [{ action: 'run.read', actor: null, target: null, occurredAt: new Date(0).toISOString(), details: {} }],
        transaction,
      ),
    );
    await logOf(other, foreign);
    await expect(removal(store, foreign, 35)).rejects.toThrow('is not that of the audit log, so no entry is removed');
    const failing: CheckpointSink = { ...foreign, lastUpTo: () => Promise.reject(new Error('unreachable')) };
    await expect(removal(store, failing, 35)).rejects.toThrow('unreachable');
    expect((await sequences(store)).length).toBe(100);
    await store.close();
  });

  test('has anomalies for a range and an expected head before its start, and for changes after it', async () => {
    const store = open();
    const sink = checkpointFile(newPath());
    await logOf(store, sink);
    const former = (await verifyAudit(store.audit, { ...whole, toSeq: 60 })).checkpoints;
    const hashes = new Map<number, string>();
    for await (const { atSequence, hash } of store.audit.entries(1, 100)) hashes.set(atSequence, hash);
    await removal(store, sink, 35);
    const verify = (range: object) => verifyAudit(store.audit, { ...whole, ...range });
    const early = await verify({ toSeq: 60 });
    expect(early.chainValid).toBe(false);
    expect(early.anomalies[0]?.detail).toContain('starts with checkpoint ckp_60 at entry 60: the entries of the range');
    expect((await verify({ fromSeq: 70, toSeq: 75 })).chainValid).toBe(true);
    const head = (atSequence: number) => ({ expected: { atSequence, hash: hashes.get(atSequence) ?? '' } });
    expect((await verify(head(60))).chainValid).toBe(true);
    expect((await verify(head(90))).chainValid).toBe(true);
    expect((await verify(head(50))).anomalies[0]?.detail).toContain('the expected head was removed');
    expect((await verify({ expected: { atSequence: 60, hash: 'a'.repeat(64) } })).chainValid).toBe(false);
    const root = former.at(-1)?.merkleRoot;
    expect((await verify({ expected: { atSequence: 60, merkleRoot: root } })).chainValid).toBe(true);
    expect((await verify({ expected: { atSequence: 60, merkleRoot: 'b'.repeat(64) } })).chainValid).toBe(false);
    expect((await verifyAudit(store.audit, { ...whole, publicKeys: [] })).checkpointsValid).toBe(false);
    await store.close();
  });
});

test('SQLite rejects deletions from the start on, an earlier start, and a start without a checkpoint', async () => {
  const path = newPath();
  const store = sqliteStore(path);
  const sink = checkpointFile(newPath());
  await logOf(store, sink);
  await removal(store, sink, 35);
  await store.close();
  const database = new DatabaseSync(path);
  for (const sql of [
    'DELETE FROM audit_entries WHERE at_sequence = 61',
    'DELETE FROM audit_entries WHERE at_sequence = 60',
    'DELETE FROM audit_checkpoints',
    'DELETE FROM audit_start',
    'UPDATE audit_start SET at_sequence = 50',
    'UPDATE audit_start SET at_sequence = 75',
    "UPDATE audit_entries SET actor = 'p_2'",
  ])
    expect(() => database.exec(sql), sql).toThrow(/append-only|starts at a checkpoint/);
  // A person with the file can still remove triggers. Verification finds the entry that was changed then.
  database.exec("DROP TRIGGER audit_entries_stay; UPDATE audit_entries SET actor = 'p_2' WHERE at_sequence = 60");
  database.close();
  const again = sqliteStore(path);
  expect((await verifyAudit(again.audit, whole)).anomalies.map(({ kind }) => kind)).toEqual(['chain-break']);
  await again.close();
});
