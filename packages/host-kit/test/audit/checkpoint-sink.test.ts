import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { auditLines, type CheckpointRecord, ed25519Signer, verifyAudit } from '@svc/auth/audit';
import { AuditLogError, type CheckpointSink, checkpointFile, createHost, type WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { compareWithSink } from '../../src/audit/anchor.ts';
import { recordedHost } from '../host/recorded-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'checkpoint-sink-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `${++files}`);

const newSigner = () =>
  ed25519Signer(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const signer = await newSigner();

const record = (atSequence: number, letter = 'a'): CheckpointRecord => ({
  checkpoint: `ckp_${atSequence}${letter}`,
  atSequence,
  merkleRoot: 'b'.repeat(64),
  signature: `${'A'.repeat(86)}==`,
  hash: letter.repeat(64),
});

describe('checkpointFile', () => {
  test('appends a line for each checkpoint, and returns the last one', async () => {
    const path = newPath();
    const sink = checkpointFile(path);
    expect(await sink.last()).toBeUndefined();
    await Promise.all([sink.append(record(3)), sink.append(record(6)), sink.append(record(9))]);
    expect(await checkpointFile(path).last()).toEqual(record(9));
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([record(3), record(6), record(9)]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('refuses a checkpoint behind the last one, and takes a second one of the same entry', async () => {
    const path = newPath();
    const sink = checkpointFile(path);
    await sink.append(record(6));
    await expect(sink.append(record(3))).rejects.toThrow('behind the last one');
    await expect(sink.append(record(6, 'c'))).rejects.toThrow('behind the last one');
    await sink.append({ ...record(6), checkpoint: 'ckp_other' });
    await sink.append(record(7));
    expect(await sink.last()).toEqual(record(7));
  });

  test('begins a new line after one that a crash has torn', async () => {
    const path = newPath();
    const sink = checkpointFile(path);
    appendFileSync(path, '{"checkpoint":"ck');
    expect(await sink.last()).toBeUndefined();
    await sink.append(record(3));
    appendFileSync(path, '{"checkpoint":"ckp_6","atSeq');
    expect(await sink.last()).toEqual(record(3));
    await sink.append(record(6));
    expect(await sink.last()).toEqual(record(6));
  });

  test('begins a new line after two first lines that crashes have torn', async () => {
    const path = newPath();
    const sink = checkpointFile(path);
    writeFileSync(path, '{"chec\n{"checkpoint":"ckp_3","at');
    expect(await sink.last()).toBeUndefined();
    await sink.append(record(3));
    expect(await sink.last()).toEqual(record(3));
  });

  test('reads the end of a long file alone', async () => {
    const path = newPath();
    writeFileSync(path, Array.from({ length: 20_000 }, (_, n) => `${JSON.stringify(record(n + 1))}\n`).join(''));
    expect(await checkpointFile(path).last()).toEqual(record(20_000));
  });

  test('refuses a file of something else, and does not change it', async () => {
    const path = newPath();
    writeFileSync(path, 'a log\nof something\n');
    await expect(checkpointFile(path).last()).rejects.toThrow('holds no checkpoint');
    await expect(checkpointFile(path).append(record(1))).rejects.toThrow('holds no checkpoint');
    expect(readFileSync(path, 'utf8')).toBe('a log\nof something\n');
  });
});

const engine: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};

/** Runs a host on a database until it has sealed the facts of some runs. */
async function used(path: string, checkpointSink: CheckpointSink, runs = 3) {
  const serving = await recordedHost({ store: sqliteStore(path), engine, audit: { signer, checkpointSink } });
  for (let turn = 0; turn < runs; turn++) await serving.comesTo(await serving.start('any'), 'completed');
  await serving.stop();
  return serving.logged;
}

/** Starts a host, stops it, and returns the error of its start. */
async function refusal(path: string, checkpointSink: CheckpointSink): Promise<unknown> {
  const keys = memoryKeyStore([]);
  const host = createHost({
    store: sqliteStore(path),
    engine,
    authenticate: [apiKeyLane({ keys })],
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    audit: { signer, checkpointSink },
  });
  const error = await host.start().catch((reason: unknown) => reason);
  await host.stop(0);
  return error;
}

function changed(path: string, ...statements: readonly string[]) {
  const database = new DatabaseSync(path);
  database.exec(
    'DROP TRIGGER audit_entries_last; DROP TRIGGER audit_checkpoints_last; DROP TRIGGER audit_entries_stay',
  );
  for (const statement of statements) database.exec(statement);
  database.close();
}

const endOf = (path: string) => {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare('SELECT max(at_sequence) AS last, count(*) AS rows FROM audit_checkpoints').get();
  database.close();
  return row;
};

describe('a host with a checkpoint sink', () => {
  test('copies a checkpoint before it stores it, and the log contains the copy', async () => {
    const [path, copies] = [newPath(), newPath()];
    const file = checkpointFile(copies);
    const storedBefore: unknown[] = [];
    await used(path, {
      last: file.last,
      append: async (copy) => {
        storedBefore.push(endOf(path)?.rows);
        await file.append(copy);
      },
    });
    expect(storedBefore[0]).toBe(0);
    const last = await file.last();
    expect(last?.atSequence).toBe(endOf(path)?.last);
    const store = sqliteStore(path);
    const publicKeys = [signer.publicKey];
    expect(await verifyAudit(store.audit, { fromSeq: 0, toSeq: 99, publicKeys, expected: last })).toMatchObject({
      chainValid: true,
    });
    const lines: string[] = [];
    for await (const line of auditLines(store.audit)) lines.push(line);
    const isCheckpoint = (line: string) => 'merkleRoot' in JSON.parse(line);
    expect(lines.filter(isCheckpoint)).toHaveLength(Number(endOf(path)?.rows));
    expect(lines.filter((line) => !isCheckpoint(line))).toHaveLength((await store.audit.head())?.atSequence ?? 0);
    await store.close();
    await used(path, file);
  });

  test('makes no checkpoint while the sink fails, and makes it later', async () => {
    const [path, copies] = [newPath(), newPath()];
    const file = checkpointFile(copies);
    const failing = { last: file.last, append: () => Promise.reject(new Error('the disk is full')) };
    const logged = await used(path, failing);
    expect(logged).toContainEqual(expect.objectContaining({ event: 'audit.seal-failed', error: 'the disk is full' }));
    expect(endOf(path)?.rows).toBe(0);
    await used(path, file);
    expect((await file.last())?.atSequence).toBe(endOf(path)?.last);
  });

  test('starts after a crash between the copy and the checkpoint', async () => {
    const [path, copies] = [newPath(), newPath()];
    const file = checkpointFile(copies);
    await used(path, file);
    changed(path, 'DELETE FROM audit_checkpoints');
    await used(path, file);
    expect((await file.last())?.atSequence).toBe(endOf(path)?.last);
  });

  test('seals up to the copy after such a crash, also with a shorter interval', async () => {
    const [path, copies] = [newPath(), newPath()];
    const file = checkpointFile(copies);
    await used(path, file);
    changed(path, 'DELETE FROM audit_checkpoints');
    const shorter = { signer, checkpointSink: file, checkpointIntervalEntries: 2 };
    const serving = await recordedHost({ store: sqliteStore(path), engine, audit: shorter });
    await serving.comesTo(await serving.start('any'), 'completed');
    await serving.stop();
    expect(serving.logged).not.toContainEqual(expect.objectContaining({ event: 'audit.seal-failed' }));
    expect((await file.last())?.atSequence).toBe(endOf(path)?.last);
  });

  test('warns when the sink is empty and the log is not', async () => {
    const path = newPath();
    await used(path, checkpointFile(newPath()));
    expect(await used(path, checkpointFile(newPath()))).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'audit.sink-empty' }),
    );
  });

  const CUTS: readonly [string, (path: string) => void, RegExp][] = [
    [
      'was cut behind its last checkpoint',
      (path) => changed(path, 'DELETE FROM audit_checkpoints', 'DELETE FROM audit_entries WHERE at_sequence > 4'),
      /^The audit log ends at entry 4, and its checkpoint sink has recorded entry \d+: entries 5 to \d+ are missing\. /,
    ],
    [
      'was emptied',
      (path) => changed(path, 'DELETE FROM audit_checkpoints', 'DELETE FROM audit_entries'),
      /^The audit log is empty, and its checkpoint sink has recorded entry \d+: entries 1 to \d+ are missing\. /,
    ],
    [
      'is in a new database',
      (path) => rmSync(path),
      /^The audit log is empty, and its checkpoint sink has recorded entry \d+: entries 1 to \d+ are missing\. /,
    ],
    [
      'has another entry at its last checkpoint',
      (path) => changed(path, "UPDATE audit_entries SET actor = 'p_other'"),
      /^Entry \d+ of the audit log is missing, or is not the entry that its checkpoint sink has recorded\. /,
    ],
  ];

  test.each(CUTS)('does not start when the log %s, and copies nothing', async (_name, change, message) => {
    const [path, copies] = [newPath(), newPath()];
    await used(path, checkpointFile(copies));
    const before = readFileSync(copies, 'utf8');
    change(path);
    for (let turn = 0; turn < 2; turn++) {
      const error = await refusal(path, checkpointFile(copies));
      expect(error).toBeInstanceOf(AuditLogError);
      expect(String(error)).toMatch(new RegExp(`AuditLogError: ${message.source.slice(1)}`));
      expect(readFileSync(copies, 'utf8')).toBe(before);
    }
  });

  test('does not start when its log was restored to an earlier state and has grown since', async () => {
    const [path, copies] = [newPath(), newPath()];
    await used(path, checkpointFile(copies));
    changed(path, 'DELETE FROM audit_checkpoints', 'DELETE FROM audit_entries WHERE at_sequence > 4');
    await used(path, checkpointFile(newPath()), 6);
    expect(String(await refusal(path, checkpointFile(copies)))).toContain(
      'is not the entry that its checkpoint sink has',
    );
  });

  test('does not start with the sink of another log', async () => {
    const path = newPath();
    const others = checkpointFile(newPath());
    const audit = { signer: await newSigner(), checkpointSink: others };
    const serving = await recordedHost({ store: memoryStore(), engine, audit });
    await serving.comesTo(await serving.start('any'), 'completed');
    await serving.stop();
    expect(String(await refusal(path, others))).toContain('no key of this host has signed its last checkpoint');
  });

  test('waits five seconds for a sink, and no longer', async () => {
    const waits: number[] = [];
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      after(ms: number, run: () => void) {
        waits.push(ms);
        queueMicrotask(run);
        return () => {};
      },
    };
    const sink = { last: () => new Promise<undefined>(() => {}), append: async () => {} };
    const comparing = compareWithSink({ audit: memoryStore().audit, sink, publicKeys: [], clock, log: () => {} });
    await expect(comparing).rejects.toThrow('did not answer within 5 s');
    expect(waits).toEqual([5000]);
  });
});
