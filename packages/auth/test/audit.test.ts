import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type AuditFact,
  type AuditReader,
  type Checkpoint,
  canonicalJson,
  checkedFact,
  coveringCheckpoints,
  ed25519Signer,
  entryHash,
  memoryAuditLog,
  memorySaltStore,
  merkleTree,
  nextEntry,
  type StoredEntry,
  subjectHashes,
  verifyAudit,
} from '@svc/auth/audit';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const pem = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const signer = await ed25519Signer(pem());
const stranger = await ed25519Signer(pem());
const publicKeys = [signer.publicKey];

const fact = (n: number): AuditFact => ({
  action: 'run.create',
  actor: `p_${n}`,
  target: `acme/run_${n}`,
  occurredAt: new Date(Date.UTC(2026, 5, 1) + n).toISOString(),
  details: { status: 201, scope: 'runs:create' },
});

/** Makes a log of some entries, with a checkpoint at a fixed interval. */
async function logOf(length: number, every: number) {
  const log = memoryAuditLog();
  let id = 0;
  for (let n = 1; n <= length; n++) {
    log.append(fact(n));
    if (n % every === 0) await log.seal(signer, () => `cp_${++id}`);
  }
  return log;
}

/** Makes a reader of a log with changed entries and checkpoints. */
async function tampered(
  change: (entries: StoredEntry[], checkpoints: Checkpoint[]) => void | Promise<void>,
  { length = 20, every = 5 } = {},
): Promise<AuditReader> {
  const log = await logOf(length, every);
  const entries: StoredEntry[] = [];
  for await (const entry of log.entries(1, length)) entries.push(entry);
  const checkpoints = [...(await log.checkpoints(0, length))];
  await change(entries, checkpoints);
  return {
    head: async () => entries.at(-1),
    async *entries(fromSeq, toSeq) {
      for (const entry of entries) if (entry.atSequence >= fromSeq && entry.atSequence <= toSeq) yield entry;
    },
    checkpoints: async (fromSeq, toSeq) => coveringCheckpoints(checkpoints, fromSeq, toSeq),
  };
}

const verify = (reader: AuditReader, fromSeq = 1, toSeq = 20) => verifyAudit(reader, { fromSeq, toSeq, publicKeys });

describe(covers('auth.audit.hash-chain', 'auth.audit.checkpoints'), () => {
  test('verifies any part of an unchanged chain', async () => {
    const log = await logOf(23, 5);
    for (const [from, to] of [
      [1, 23],
      [0, 23],
      [7, 7],
      [6, 10],
      [3, 18],
      [20, 23],
      [23, 23],
      [1, 99],
    ] as const) {
      const result = await verify(log, from, to);
      expect({ from, to, ...result }).toMatchObject({ chainValid: true, checkpointsValid: true, anomalies: [] });
      expect(result.checkpoints.every(({ atSequence }) => atSequence >= from && atSequence <= to)).toBe(true);
    }
    expect((await verify(log, 1, 23)).checkpoints).toHaveLength(4);
  });

  test('verifies an empty chain', async () => {
    expect(await verify(memoryAuditLog())).toMatchObject({ chainValid: true, checkpoints: [], anomalies: [] });
  });

  type Change = Parameters<typeof tampered>[0];
  const rehash = (entries: StoredEntry[], from: number) => {
    for (let at = from; at < entries.length; at++) {
      const entry = entries[at];
      if (entry === undefined) continue;
      const linked = { ...entry, prevHash: entries[at - 1]?.hash ?? null };
      entries[at] = { ...linked, hash: entryHash(linked) };
    }
  };
  const edited = (entries: StoredEntry[], at: number, changes: Partial<StoredEntry>) => {
    const entry = entries[at];
    if (entry !== undefined) entries[at] = { ...entry, ...changes };
  };

  const TAMPERINGS: readonly [string, Change, string[]][] = [
    [
      'a changed entry',
      (entries) => edited(entries, 7, { actor: 'p_other' }),
      ['hash-mismatch', 'chain-break', 'merkle-mismatch'],
    ],
    [
      'a changed detail',
      (entries) => edited(entries, 7, { details: { status: 403 } }),
      ['hash-mismatch', 'chain-break', 'merkle-mismatch'],
    ],
    [
      'a changed time',
      (entries) => edited(entries, 7, { occurredAt: '2027-01-01T00:00:00Z' }),
      ['hash-mismatch', 'chain-break', 'merkle-mismatch'],
    ],
    [
      'a changed entry with its hash',
      (entries) => {
        edited(entries, 7, { actor: 'p_other' });
        const entry = entries[7];
        if (entry) entries[7] = { ...entry, hash: entryHash(entry) };
      },
      ['chain-break', 'merkle-mismatch'],
    ],
    [
      'a changed entry, and everything after it hashed anew',
      (entries) => {
        edited(entries, 7, { actor: 'p_other' });
        rehash(entries, 7);
      },
      ['merkle-mismatch', 'merkle-mismatch', 'merkle-mismatch'],
    ],
    [
      'a changed last entry, hashed anew',
      (entries) => {
        edited(entries, 19, { actor: 'p_other' });
        rehash(entries, 19);
      },
      ['merkle-mismatch'],
    ],
    ['a changed hash', (entries) => edited(entries, 7, { hash: 'f'.repeat(64) }), ['hash-mismatch']],
    [
      'a changed link',
      (entries) => edited(entries, 7, { prevHash: 'f'.repeat(64) }),
      ['hash-mismatch', 'chain-break', 'chain-break', 'merkle-mismatch'],
    ],
    [
      'a first entry that has a link',
      (entries) => edited(entries, 0, { prevHash: 'f'.repeat(64) }),
      ['hash-mismatch', 'chain-break', 'chain-break', 'merkle-mismatch'],
    ],
    ['an entry removed', (entries) => void entries.splice(7, 1), ['missing-entry', 'merkle-mismatch']],
    [
      'the last entries removed',
      (entries) => void entries.splice(17, 3),
      ['missing-entry', 'missing-entry', 'missing-entry', 'merkle-mismatch'],
    ],
    ['all entries removed', (entries) => void entries.splice(0), Array.from({ length: 24 }, () => '')],
    [
      'two entries swapped',
      (entries) => {
        const [a, b] = [entries[7], entries[8]];
        if (a && b) entries.splice(7, 2, { ...b, atSequence: a.atSequence }, { ...a, atSequence: b.atSequence });
      },
      ['hash-mismatch', 'chain-break', 'hash-mismatch', 'chain-break', 'chain-break', 'merkle-mismatch'],
    ],
    [
      'a checkpoint with another root',
      (_entries, checkpoints) => {
        const [first] = checkpoints;
        if (first) checkpoints[0] = { ...first, merkleRoot: 'f'.repeat(64) };
      },
      ['merkle-mismatch', 'signature-invalid'],
    ],
    [
      'a checkpoint with another signature',
      (_entries, checkpoints) => {
        const [first, second] = checkpoints;
        if (first && second) checkpoints[0] = { ...first, signature: second.signature };
      },
      ['signature-invalid'],
    ],
    [
      'a checkpoint without a signature',
      (_entries, checkpoints) => {
        const [first] = checkpoints;
        if (first) checkpoints[0] = { ...first, signature: '' };
      },
      ['signature-invalid'],
    ],
    ['a checkpoint removed', (_entries, checkpoints) => void checkpoints.splice(1, 1), ['merkle-mismatch']],
    [
      'a checkpoint moved',
      (_entries, checkpoints) => {
        const [first] = checkpoints;
        if (first) checkpoints[0] = { ...first, atSequence: 4 };
      },
      ['merkle-mismatch', 'merkle-mismatch'],
    ],
    [
      'everything rewritten and signed by a stranger',
      async (entries, checkpoints) => {
        edited(entries, 7, { actor: 'p_other' });
        rehash(entries, 7);
        const forged = memoryAuditLog();
        for (const [at, { action, actor, target, occurredAt, details }] of entries.entries()) {
          forged.append({ action, actor, target, occurredAt, details });
          if ((at + 1) % 5 === 0) await forged.seal(stranger, () => `cp_${at}`);
        }
        checkpoints.splice(0, checkpoints.length, ...(await forged.checkpoints(0, 20)));
      },
      ['signature-invalid', 'signature-invalid', 'signature-invalid', 'signature-invalid'],
    ],
  ];

  test.each(TAMPERINGS)('detects and names %s', async (_name, change, kinds) => {
    const { chainValid, anomalies } = await verify(await tampered(change));
    expect(chainValid).toBe(false);
    if (kinds[0] !== '') expect(anomalies.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
    expect(anomalies.length).toBe(kinds.length);
  });

  test('reports both hashes of a chain-break, and the id of a bad checkpoint', async () => {
    const reader = await tampered((entries) => edited(entries, 7, { prevHash: 'f'.repeat(64) }));
    const { anomalies } = await verify(reader);
    expect(anomalies.find(({ kind }) => kind === 'chain-break')).toMatchObject({
      atSeq: 8,
      expectedPrevHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      actualPrevHash: 'f'.repeat(64),
    });
    expect(anomalies.find(({ kind }) => kind === 'merkle-mismatch')).toMatchObject({ atSeq: 10, checkpoint: 'cp_2' });
  });

  test('detects a change before the part when a checkpoint of the part covers it', async () => {
    const reader = await tampered((entries) => edited(entries, 6, { actor: 'p_other' }));
    expect(await verify(reader, 9, 9)).toMatchObject({ chainValid: false });
    expect(await verify(reader, 12, 20)).toMatchObject({ chainValid: true });
  });

  test('detects any changed byte of any entry', async () => {
    const field = fc.constantFrom('actor', 'action', 'target', 'occurredAt', 'prevHash', 'hash');
    await fc.assert(
      fc.asyncProperty(fc.nat(19), field, fc.nat(200), async (at, name, position) => {
        const reader = await tampered((entries) => {
          const entry = entries[at];
          const value = entry && Reflect.get(entry, name);
          if (entry === undefined || typeof value !== 'string') return edited(entries, at, { actor: null });
          const index = position % value.length;
          const flipped = value[index] === 'x' ? 'y' : 'x';
          return edited(entries, at, { [name]: value.slice(0, index) + flipped + value.slice(index + 1) });
        });
        expect((await verify(reader)).chainValid).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  describe('with an expected head', () => {
    const heads = async () => {
      const log = await logOf(20, 5);
      const all: StoredEntry[] = [];
      for await (const entry of log.entries(1, 20)) all.push(entry);
      const [checkpoint] = (await log.checkpoints(0, 20)).slice(-1);
      const [head] = all.slice(-1);
      if (head === undefined || checkpoint === undefined) throw new Error('The log is empty.');
      return {
        head: { atSequence: head.atSequence, hash: head.hash },
        checkpoint,
        hashAt: (n: number) => all[n - 1]?.hash,
      };
    };
    /** Restores the log as it was after an entry. */
    const restored =
      (length: number): Change =>
      (entries, checkpoints) => {
        entries.splice(length);
        checkpoints.splice(Math.floor(length / 5));
      };
    const CUTS: readonly [string, Change, string][] = [
      [
        'cut behind the last checkpoint but one',
        restored(15),
        'Entries 16 to 20 are missing: the log ends at entry 15, before the expected head.',
      ],
      [
        'without its last entry',
        restored(19),
        'Entry 20 is missing: the log ends at entry 19, before the expected head.',
      ],
      ['that was emptied', restored(0), 'Entries 1 to 20 are missing: the log is empty, before the expected head.'],
      [
        'restored to an earlier state',
        restored(7),
        'Entries 8 to 20 are missing: the log ends at entry 7, before the expected head.',
      ],
    ];

    test.each(CUTS)('verifies no log %s, for any range', async (_name, change, detail) => {
      const { head, checkpoint } = await heads();
      const reader = await tampered(change);
      for (const [fromSeq, toSeq] of [
        [1, 20],
        [0, 5],
        [20, 20],
        [30, 40],
      ] as const) {
        for (const expected of [head, checkpoint]) {
          const { chainValid, anomalies } = await verifyAudit(reader, { fromSeq, toSeq, publicKeys, expected });
          expect(chainValid).toBe(false);
          expect(anomalies).toContainEqual({ kind: 'missing-entry', atSeq: 20, detail });
        }
      }
      // The chain alone does not tell.
      expect(await verify(reader)).toMatchObject({ chainValid: true });
    });

    test('verifies a log that has grown since, in any range', async () => {
      const { head, checkpoint } = await heads();
      const log = await logOf(33, 5);
      for (const [fromSeq, toSeq] of [
        [1, 33],
        [0, 99],
        [3, 8],
        [25, 31],
      ] as const) {
        for (const expected of [head, checkpoint, { ...checkpoint, ...head }]) {
          const result = await verifyAudit(log, { fromSeq, toSeq, publicKeys, expected });
          expect(result).toMatchObject({ fromSeq, toSeq, chainValid: true, anomalies: [] });
          expect(result.checkpoints.every(({ atSequence }) => atSequence >= fromSeq && atSequence <= toSeq)).toBe(true);
        }
      }
    });

    test('verifies no log that was restored and went on otherwise', async () => {
      const { head, checkpoint } = await heads();
      const forked = memoryAuditLog();
      for (let n = 1; n <= 25; n++) {
        forked.append(fact(n <= 12 ? n : n + 1000));
        if (n % 5 === 0) await forked.seal(signer, () => `cp_${n}`);
      }
      expect(await verify(forked, 1, 25)).toMatchObject({ chainValid: true });
      const range = { fromSeq: 1, toSeq: 25, publicKeys };
      expect((await verifyAudit(forked, { ...range, expected: head })).anomalies).toEqual([
        { kind: 'hash-mismatch', atSeq: 20, detail: expect.stringContaining('not the expected head') },
      ]);
      expect((await verifyAudit(forked, { ...range, expected: checkpoint })).anomalies).toEqual([
        {
          kind: 'merkle-mismatch',
          atSeq: 20,
          checkpoint: checkpoint.checkpoint,
          detail: 'The checkpoint at entry 20 has another root than the expected checkpoint.',
        },
      ]);
    });

    test('names an expected checkpoint that was removed, while its entries were not', async () => {
      const { checkpoint } = await heads();
      const reader = await tampered((_entries, checkpoints) => void checkpoints.pop());
      const { anomalies } = await verifyAudit(reader, { fromSeq: 1, toSeq: 20, publicKeys, expected: checkpoint });
      const detail = 'The expected checkpoint at entry 20 is missing.';
      expect(anomalies).toEqual([{ kind: 'merkle-mismatch', atSeq: 20, checkpoint: checkpoint.checkpoint, detail }]);
    });

    test('detects a replaced entry between the range and the expected head', async () => {
      const { hashAt } = await heads();
      const reader = await tampered((entries, checkpoints) => {
        checkpoints.splice(0);
        edited(entries, 16, { actor: 'p_other' });
        rehash(entries, 16);
      });
      const range = { fromSeq: 1, toSeq: 10, publicKeys };
      const verified = async (atSequence: number) =>
        (await verifyAudit(reader, { ...range, expected: { atSequence, hash: hashAt(atSequence) ?? '' } })).chainValid;
      expect(await verified(16)).toBe(true);
      expect(await verified(18)).toBe(false);
    });

    test('names the missing entries of a log that was cut by more than the listed anomalies', async () => {
      const { anomalies } = await verifyAudit(await logOf(3, 9), {
        fromSeq: 0,
        toSeq: 9,
        publicKeys,
        expected: { atSequence: 5_000_000, hash: 'a'.repeat(64) },
      });
      const detail = 'Entries 4 to 5000000 are missing: the log ends at entry 3, before the expected head.';
      expect(anomalies).toEqual([{ kind: 'missing-entry', atSeq: 5_000_000, detail }]);
    });

    test.each([
      [{ atSequence: 0, hash: 'a'.repeat(64) }],
      [{ atSequence: 1.5, hash: 'a'.repeat(64) }],
      [{ atSequence: 3 }],
      [{ atSequence: 3, hash: 'A'.repeat(64) }],
      [{ atSequence: 3, hash: '' }],
      [{ atSequence: 3, hash: 'a'.repeat(64), merkleRoot: 'x' }],
    ])('rejects the expected head %j', async (expected) => {
      const verifying = verifyAudit(memoryAuditLog(), { fromSeq: 0, toSeq: 1, publicKeys, expected });
      await expect(verifying).rejects.toThrow(RangeError);
    });
  });

  test('verifies checkpoints of a replaced key', async () => {
    const log = await logOf(10, 5);
    const keys = [stranger.publicKey, signer.publicKey];
    expect(await verifyAudit(log, { fromSeq: 1, toSeq: 10, publicKeys: keys })).toMatchObject({ chainValid: true });
    expect(await verifyAudit(log, { fromSeq: 1, toSeq: 10, publicKeys: [] })).toMatchObject({
      checkpointsValid: false,
    });
  });

  test.each([
    [-1, 5],
    [5, 4],
    [1.5, 3],
    [1, Number.POSITIVE_INFINITY],
    [Number.NaN, 1],
  ])('rejects the range %d to %d', async (from, to) => {
    await expect(verify(memoryAuditLog(), from, to)).rejects.toThrow(RangeError);
  });

  test('verifies 200 000 entries without holding them in memory', async () => {
    // The entries do not fit into this heap. A process of its own has no garbage of other tests.
    const program = fileURLToPath(new URL('./verify-long-log.ts', import.meta.url));
    const args = ['--max-old-space-size=48', '--conditions=@svc/source', program, '200000'];
    const { stdout } = await promisify(execFile)(execPath, args);
    expect(JSON.parse(stdout)).toMatchObject({ chainValid: true, toSeq: 200_000 });
  }, 300_000);
});

describe('the Merkle tree', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  /** Follows the specification: level by level, a last odd node moves up. */
  const byLevels = (leaves: readonly string[]): string => {
    const [first = '', second] = leaves;
    if (second === undefined) return first;
    const parents: string[] = [];
    for (let at = 0; at < leaves.length; at += 2) {
      const [left = '', right] = [leaves[at], leaves[at + 1]];
      parents.push(right === undefined ? left : sha256(left + right));
    }
    return byLevels(parents);
  };

  test('has the same root leaf by leaf and level by level', () => {
    for (let size = 1; size <= 130; size++) {
      const leaves = Array.from({ length: size }, (_, n) => sha256(String(n)));
      const tree = merkleTree();
      for (const leaf of leaves) tree.add(leaf);
      expect(tree.root()).toBe(byLevels(leaves));
      expect(tree.size).toBe(size);
    }
    expect(() => merkleTree().root()).toThrow(RangeError);
  });
});

describe('the signer', () => {
  test('returns the public key in the form of discovery', () => {
    expect(signer.publicKey).toMatch(/^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/);
  });
  test('rejects every key but a private Ed25519 key', async () => {
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    for (const key of [ec.toString(), 'x', new Uint8Array(3), ''])
      await expect(ed25519Signer(key)).rejects.toThrow(TypeError);
  });
});

describe('canonical JSON (RFC 8785)', () => {
  test.each<[unknown, string]>([
    [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
    [
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    ],
    [[1e30, 4.5, 0.002, 1e-27, -0, 333333333.3333333], '[1e+30,4.5,0.002,1e-27,0,333333333.3333333]'],
    ['\u20ac$\u000f\nA\'B"\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\"/"'],
    [null, 'null'],
    [{ a: [{}, []] }, '{"a":[{},[]]}'],
  ])('%j', (value, text) => expect(canonicalJson(value as never)).toBe(text));

  test.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '\ud800',
    undefined,
    { a: undefined },
    { '\udc00': 1 },
    () => 1,
    1n,
  ])('rejects %s', (value) => expect(() => canonicalJson(value as never)).toThrow(TypeError));

  test('round-trips every JSON value, independent of the order of names', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value as never);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });
});

describe('an audit fact', () => {
  const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
  test.each<[string, Partial<Record<keyof AuditFact, unknown>>]>([
    ['an e-mail address as actor', { actor: 'ada@example.com' }],
    ['a token as actor', { actor: JWT }],
    ['a path of three as target', { target: 'a/b/c' }],
    ['an action with white space', { action: 'run create' }],
    ['a time that is none', { occurredAt: 'today' }],
    ['a time without a zone', { occurredAt: '2026-06-01T00:00:00' }],
    ['a token among details', { details: { scope: JWT } }],
    ['a key among details', { details: { scope: `svc_live_${'0'.repeat(72)}` } }],
    ['an object among details', { details: { body: { a: 1 } } }],
    ['a long text among details', { details: { message: 'x'.repeat(300) } }],
    ['an e-mail address among details', { details: { user: 'ada@example.com' } }],
    ['a line break among details', { details: { reason: 'a\nb' } }],
    ['a name that is none', { details: { 'a b': 1 } }],
    ['a number that is none', { details: { latencyMs: Number.NaN } }],
    [
      'more details than anyone needs',
      { details: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, n])) },
    ],
  ])('rejects %s, with an error that does not contain it', (_name, changes) => {
    const wrong = { ...fact(1), ...changes } as AuditFact;
    expect(() => checkedFact(wrong)).toThrow(TypeError);
    expect(() => nextEntry(undefined, wrong)).toThrow(/^audit fact: (?!.*(eyJ|ada@|svc_live)).*$/);
  });
});

describe(covers('auth.audit.salted-correlation', 'auth.audit.salt-rotation'), () => {
  const hashes = () =>
    subjectHashes({ salts: memorySaltStore(), randomBytes: (size) => new Uint8Array(randomBytes(size)) });

  test('returns one hash per subject in a tenant, and another in each other tenant', async () => {
    const { hash } = hashes();
    expect(await hash('acme', 'spiffe://a.example/b')).toBe(await hash('acme', 'spiffe://a.example/b'));
    expect(await hash('acme', 'x')).not.toBe(await hash('globex', 'x'));
    expect(await hash('acme', 'x')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('returns an unrelated hash after a rotation', async () => {
    const { hash, rotate } = hashes();
    const [old, elsewhere] = [await hash('acme', 'x'), await hash('globex', 'x')];
    await rotate('acme');
    expect(await hash('acme', 'x')).not.toBe(old);
    expect(await hash('globex', 'x')).toBe(elsewhere);
  });

  test('uses one salt for two hosts that start at once', async () => {
    const { hash } = hashes();
    const all = await Promise.all(Array.from({ length: 10 }, () => hash('acme', 'x')));
    expect(new Set(all).size).toBe(1);
  });
});
