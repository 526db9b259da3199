import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { ed25519Signer, entryHash } from '@svc/auth/audit';
import { entryLeaf, noteKey, openHead, verifyConsistency, verifyInclusion } from '@svc/auth/audit-tree';
import { checkpointFile, createHost, type Host, type LogRecord } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { afterAll, expect, test } from 'vitest';
import { Sealer } from '../../src/audit/sealer.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';

const KEY = 'auditor-key-of-the-removed-proofs-0123456789';
const ORIGIN = 'svc.example/host/example/audit';
const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'removed-proofs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { privateKey } = generateKeyPairSync('ed25519');
const signer = await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());

test.each([
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(join(folder, 'svc.db'))],
])(
  'in %s, entries that remain after a removal are proven, and proofs of removed ones are refused',
  async (name, open) => {
    const store = open();
    const sink = checkpointFile(join(folder, `${name}.jsonl`));
    const sealer = new Sealer({
      ...{ store, clock: systemClock, random: systemRandom, log: () => {}, signer, publicKeys: [signer.publicKey] },
      ...{ origin: ORIGIN, sink, witness: undefined, intervalEntries: 1000 },
      observer: { sealed: () => {}, failed: () => {} },
    });
    /** Adds entries of a day, and seals them. */
    const sealed = async (count: number, daysAgo: number) => {
      const occurredAt = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
      const fact = {
        action: 'run.create',
        actor: 'p_1',
        target: null,
        occurredAt,
        details: { tenant: 'acme', mode: 'live' },
      };
      await store.transaction((transaction) => store.audit.append(new Array(count).fill(fact), transaction));
      await sealer.seal();
      const head = await openHead((await store.audit.note()) ?? '', [noteKey(ORIGIN, signer.publicKey)]);
      if (head === undefined) throw new Error('The note was not opened.');
      return head;
    };
    await sealed(700, 60);
    await sealed(30, 40);
    const early = await sealed(70, 20);
    const log: LogRecord[] = [];
    const host = createHost({
      ...{ store, secretKey: new Uint8Array(32) },
      authenticate: [apiKeyLane({ keys: memoryKeyStore([key]), now: systemClock.now })],
      engine: async () => ({}),
      audit: { signer, checkpointSink: sink, origin: ORIGIN },
      retention: { auditDays: 30 },
      ports: { log: (record) => void log.push(record) },
    });
    await host.start();
    await expect.poll(() => log.some(({ event }) => event === 'retention.removed'), { timeout: 30_000 }).toBe(true);

    expect((await store.audit.start())?.atSequence).toBe(730);
    expect(await store.audit.hashes(0, 0, 1)).toEqual([]);
    const { entries } = await ask(host, `?limit=200&treeSize=${early.treeSize}`, 200);
    expect(
      entries
        .map(({ atSequence }: { atSequence: number }) => atSequence)
        .toSorted()
        .at(0),
    ).toBe(730);
    for (const { proof, ...entry } of entries)
      expect(
        verifyInclusion({ leaf: entryLeaf(entryHash(entry)), index: entry.atSequence - 1, head: early, proof }),
      ).toBe(true);
    const later = await sealed(50, 0);
    const path = `/proof/consistency?first=${early.treeSize}&second=${later.treeSize}`;
    const { proof } = await ask(host, path, 200);
    expect(verifyConsistency({ first: early, second: later, proof })).toBe(true);
    for (const [refused, name] of [
      ['/proof/inclusion?seq=1&treeSize=800', 'query.seq'],
      ['/proof/inclusion?seq=511&treeSize=800', 'query.seq'],
      ['/proof/consistency?first=1&second=800', 'query.first'],
      ['/proof/consistency?first=300&second=800', 'query.first'],
    ] as const)
      expect(JSON.stringify(await ask(host, refused, 400))).toContain(
        `${name}: must be at least 730, because older entries of the log were removed`,
      );
    expect((await ask(host, '?before=600', 200)).entries).toEqual([]);
    await host.stop();
  },
);

const key = {
  id: 'key_1',
  hash: hashApiKey(KEY),
  tenant: 'acme',
  workspaces: 'all',
  principal: 'p_1',
  mode: 'live',
  scopes: ['audit:read'],
} as const;

async function ask(host: Host, path: string, status: number) {
  const headers = { authorization: `Bearer ${KEY}` };
  const response = await host.fetch(new Request(`http://host.test/host/example/audit${path}`, { headers }));
  const text = await response.text();
  expect([text.slice(0, 300), response.status]).toEqual([text.slice(0, 300), status]);
  return JSON.parse(text);
}
