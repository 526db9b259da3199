import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../page/data/shapes.ts';
import { judgeContinuation, judgeEntries, judgeHead } from '../page/model/audit-findings.ts';
import { openNote } from '../page/model/audit-note.ts';
import {
  canonicalJson,
  entryHash,
  type TreeHead,
  verifyConsistency,
  verifyInclusion,
} from '../page/model/audit-proof.ts';

const sha = (...parts: readonly (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};
const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** The tree of RFC 6962, section 2.1, as it is defined: by recursion. */
function root(hashes: readonly string[]): string {
  const [first = ''] = hashes;
  if (hashes.length === 1) return sha(Buffer.from([0]), bytes(first));
  const middle = split(hashes.length);
  return sha(Buffer.from([1]), bytes(root(hashes.slice(0, middle))), bytes(root(hashes.slice(middle))));
}

function path(index: number, hashes: readonly string[]): string[] {
  if (hashes.length === 1) return [];
  const middle = split(hashes.length);
  const [left, right] = [hashes.slice(0, middle), hashes.slice(middle)];
  return index < middle ? [...path(index, left), root(right)] : [...path(index - middle, right), root(left)];
}

function continuation(first: number, hashes: readonly string[], isWhole = true): string[] {
  if (first === hashes.length) return isWhole ? [] : [root(hashes)];
  const middle = split(hashes.length);
  const [left, right] = [hashes.slice(0, middle), hashes.slice(middle)];
  return first <= middle
    ? [...continuation(first, left, isWhole), root(right)]
    : [...continuation(first - middle, right, false), root(left)];
}

function split(length: number): number {
  return 2 ** Math.floor(Math.log2(length - 1));
}

const headOf = (hashes: readonly string[]): TreeHead => ({ treeSize: hashes.length, rootHash: root(hashes) });
const leaves = fc.array(
  fc.nat().map((value) => sha(String(value))),
  { minLength: 1, maxLength: 40 },
);
/** A change of one hash of a proof, one more, or one less. */
const damage = fc.oneof(
  fc.nat().map((at) => (proof: readonly string[]) => proof.with(at % proof.length, sha('another'))),
  fc.constant((proof: readonly string[]) => [...proof, sha('another')]),
  fc.constant((proof: readonly string[]) => proof.slice(0, -1)),
  fc.constant((proof: readonly string[]) => proof.map((hash) => hash.toUpperCase().replace(/[0-9]/g, 'g'))),
);

describe('the proof of an entry', () => {
  test('is valid for every entry of every tree, and not when it is damaged or of another place', async () => {
    await fc.assert(
      fc.asyncProperty(leaves, fc.nat(), damage, async (hashes, at, damaged) => {
        const index = at % hashes.length;
        const [hash = '', head, proof] = [hashes[index], headOf(hashes), path(index, hashes)];
        expect(await verifyInclusion(hash, index, head, proof)).toBe(true);
        expect(await verifyInclusion(sha('no entry'), index, head, proof)).toBe(false);
        expect(await verifyInclusion(hash, hashes.length, head, proof)).toBe(false);
        expect(await verifyInclusion(hash, index, { ...head, rootHash: sha('another') }, proof)).toBe(false);
        if (proof.length > 0) expect(await verifyInclusion(hash, index, head, damaged(proof))).toBe(false);
      }),
    );
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 60])('is refused for the index %d', async (index) => {
    expect(await verifyInclusion(sha('1'), index, headOf([sha('1')]), [])).toBe(false);
  });

  test('of a million hashes is refused before it is computed', async () => {
    expect(await verifyInclusion(sha('1'), 0, { treeSize: 2 ** 52, rootHash: sha('') }, Array(129).fill(sha('')))).toBe(
      false,
    );
  });
});

describe('the proof of a continuation', () => {
  test('is valid between all sizes of every tree, and not when it is damaged', async () => {
    await fc.assert(
      fc.asyncProperty(leaves, fc.nat(), damage, async (hashes, at, damaged) => {
        const size = (at % hashes.length) + 1;
        const [first, second, proof] = [headOf(hashes.slice(0, size)), headOf(hashes), continuation(size, hashes)];
        expect(await verifyConsistency(first, second, proof)).toBe(true);
        expect(await verifyConsistency({ ...first, rootHash: sha('another') }, second, proof)).toBe(false);
        expect(await verifyConsistency(first, { ...second, rootHash: sha('another') }, proof)).toBe(false);
        if (proof.length > 0) expect(await verifyConsistency(first, second, damaged(proof))).toBe(false);
        if (size < hashes.length) expect(await verifyConsistency(second, first, proof)).toBe(false);
      }),
    );
  });

  test('from a log without entries proves nothing', async () => {
    expect(await verifyConsistency({ treeSize: 0, rootHash: sha('') }, headOf([sha('1')]), [])).toBe(false);
  });
});

describe('canonical JSON', () => {
  test('is read as the same value, and does not depend on the order of members', () => {
    const value = fc.jsonValue().map((json) => JSON.parse(JSON.stringify(json)));
    fc.assert(
      fc.property(value, (json) => {
        let text = '';
        try {
          text = canonicalJson(json);
        } catch {
          return;
        }
        expect(JSON.parse(text)).toEqual(json);
        const reversed = (part: unknown): unknown => {
          if (Array.isArray(part)) return part.map(reversed);
          if (typeof part !== 'object' || part === null) return part;
          return Object.fromEntries(
            Object.entries(part)
              .reverse()
              .map(([name, member]) => [name, reversed(member)]),
          );
        };
        const other: typeof json = reversed(json);
        expect(canonicalJson(other)).toBe(text);
      }),
    );
  });

  test('follows RFC 8785: its example, and no half of a surrogate pair', () => {
    const numbers = [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27];
    expect(canonicalJson({ literals: [null, true, false], numbers, '€': '\n"\\/' })).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"€":"\\n\\"\\\\/"}',
    );
    expect(() => canonicalJson('\ud800')).toThrow(TypeError);
  });
});

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const KEY = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const ORIGIN = 'svc.example.com/audit';

function noteOf({ treeSize, rootHash }: TreeHead, origin = ORIGIN): string {
  const text = `${origin}\n${treeSize}\n${bytes(rootHash).toString('base64')}\n`;
  const raw = Buffer.from(KEY, 'base64').subarray(12);
  const keyId = bytes(sha(`${origin}\n`, Buffer.from([1]), raw)).subarray(0, 4);
  const signature = sign(null, Buffer.from(text), privateKey);
  return `${text}\n\u2014 ${origin} ${Buffer.concat([keyId, signature]).toString('base64')}\n`;
}

async function entries(count: number): Promise<AuditEntry[]> {
  const made: AuditEntry[] = [];
  for (let atSequence = 1; atSequence <= count; atSequence += 1) {
    const entry = {
      ...{ atSequence, action: 'run.create', actor: 'p_ada', target: null, occurredAt: '2026-01-01T00:00:00.000Z' },
      ...{ details: { status: 200 }, prevHash: made.at(-1)?.hash ?? null, hash: '' },
    };
    made.push({ ...entry, hash: await entryHash(entry) });
  }
  const hashes = made.map(({ hash }) => hash);
  return made.map((entry, index) => ({ ...entry, proof: path(index, hashes) }));
}

describe('a signed note', () => {
  const head = headOf([sha('1'), sha('2')]);

  test('is opened with its key alone', async () => {
    expect(await openNote(noteOf(head), KEY)).toEqual({ origin: ORIGIN, ...head });
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    expect(await openNote(noteOf(head), other)).toBeUndefined();
    expect(await openNote(noteOf(head), '')).toBeUndefined();
    expect(await openNote(noteOf(head), KEY.replace(/^MCow/, 'MCox'))).toBeUndefined();
  });

  test('is opened with signatures of others beside', async () => {
    const note = `${noteOf(head)}\u2014 witness.example AAAAAAAA\n\u2014 ${ORIGIN} AAAAAAAA\n`;
    expect(await openNote(note, KEY)).toEqual({ origin: ORIGIN, ...head });
  });

  test('is not opened when any character of its text is changed, nor when it is no note', async () => {
    const note = noteOf(head);
    const end = note.indexOf('\n\n');
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: end - 1 }), fc.constantFrom('0', 'A', '\n', ' ', '+'), async (at, character) => {
        fc.pre(note[at] !== character);
        expect(await openNote(note.slice(0, at) + character + note.slice(at + 1), KEY)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await openNote(text, KEY)).toBeUndefined();
      }),
    );
    expect(await openNote(`${note}${'x'.repeat(20_000)}`, KEY)).toBeUndefined();
  });
});

describe('a finding', () => {
  test('of an honest log is that everything was verified', async () => {
    const all = await entries(7);
    const { head } = await judgeHead(noteOf(headOf(all.map(({ hash }) => hash))), KEY);
    if (head === undefined) throw new Error('The head was not opened.');
    expect((await judgeEntries(all, head)).map(({ outcome }) => outcome)).toEqual(Array(3).fill('verified'));
    expect((await judgeEntries([], head)).map(({ outcome }) => outcome)).toEqual(Array(3).fill('not verified'));
  });

  test('names the entry that was changed, also when the host gives it a new hash', async () => {
    const all = await entries(7);
    const { head } = await judgeHead(noteOf(headOf(all.map(({ hash }) => hash))), KEY);
    if (head === undefined) throw new Error('The head was not opened.');
    const [, , third] = all;
    if (third === undefined) throw new Error('There is no third entry.');
    const changed = { ...third, actor: 'p_mallory' };
    const [content] = await judgeEntries(all.with(2, changed), head);
    expect(content).toMatchObject({ outcome: 'wrong', sentence: expect.stringContaining('entry 3') });
    const rehashed = { ...changed, hash: await entryHash(changed) };
    const [good, inclusion] = await judgeEntries(all.with(2, rehashed), head);
    expect(good?.outcome).toBe('verified');
    expect(inclusion).toMatchObject({ outcome: 'wrong', sentence: expect.stringContaining('entry 3') });
  });

  test('names an entry that is listed twice, though each of its proofs is valid', async () => {
    const all = await entries(7);
    const { head } = await judgeHead(noteOf(headOf(all.map(({ hash }) => hash))), KEY);
    if (head === undefined) throw new Error('The head was not opened.');
    for (let at = 0; at < all.length; at++) {
      const one = all[at];
      if (one === undefined) throw new Error('There is no such entry.');
      const other = (at + 3) % all.length;
      // In place of another entry, and beside all of them.
      for (const listed of [all.with(other, one), [...all, one], [one, one, one]]) {
        const [content, inclusion, repetition] = await judgeEntries(listed, head);
        expect([content?.outcome, inclusion?.outcome]).toEqual(['verified', 'verified']);
        expect(repetition).toMatchObject({
          outcome: 'wrong',
          sentence: `Listed more than once, in place of others: entry ${one.atSequence}.`,
        });
      }
    }
  });

  test('of a head without a valid signature is wrong', async () => {
    const { head, finding } = await judgeHead(noteOf(headOf([sha('1')])).replace('\n1\n', '\n2\n'), KEY);
    expect([head, finding.outcome]).toEqual([undefined, 'wrong']);
  });

  describe('of the last visit', () => {
    const hashes = ['1', '2', '3', '4', '5'].map((text) => sha(text));
    const now = { origin: ORIGIN, ...headOf(hashes) };
    const then = { note: noteOf(headOf(hashes.slice(0, 3))), publicKey: KEY };
    const proof = async () => continuation(3, hashes);

    test('is verified by the proof of the host, and wrong with another one', async () => {
      expect(await judgeContinuation(then, KEY, now, proof)).toMatchObject({ outcome: 'verified' });
      expect(await judgeContinuation(then, KEY, now, async () => [])).toMatchObject({ outcome: 'wrong' });
    });

    test('is wrong when the log is shorter, when its key is another one, and when it has another name', async () => {
      const later = { note: noteOf(headOf([...hashes, sha('6')])), publicKey: KEY };
      expect((await judgeContinuation(later, KEY, now, proof)).sentence).toContain('shorter');
      expect((await judgeContinuation(then, 'another', now, proof)).outcome).toBe('wrong');
      expect((await judgeContinuation(then, KEY, { ...now, origin: 'other' }, proof)).outcome).toBe('wrong');
    });

    test('is not verified without an earlier one, with one that cannot be read, and without a proof', async () => {
      const refused = () => Promise.reject(new Error('query.first: must be at least 4.'));
      for (const [earlier, read] of [
        [undefined, proof],
        ['unreadable', proof],
        [{ note: '', publicKey: KEY }, proof],
        [then, refused],
      ] as const)
        expect((await judgeContinuation(earlier, KEY, now, read)).outcome).toBe('not verified');
    });
  });
});
