import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { ed25519Signer } from '@svc/auth/audit';
import {
  consistencyProof,
  entryLeaf,
  GrowingTree,
  inclusionProof,
  leafHash,
  noteKey,
  openHead,
  signedHead,
  storedNodes,
  type TreeReader,
  treeHead,
  verifyConsistency,
  verifyInclusion,
} from '@svc/auth/audit-tree';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cosignaturesOf } from '../src/audit-tree/note.ts';
import vectors from './merkle-vectors.json' with { type: 'json' };

/** A second implementation, straight from the definition: RFC 9162, section 2.1.1. */
function rootOf(leaves: readonly string[]): string {
  const [first] = leaves;
  if (first === undefined) return createHash('sha256').digest('hex');
  if (leaves.length === 1) return first;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const halves = rootOf(leaves.slice(0, split)) + rootOf(leaves.slice(split));
  return createHash('sha256')
    .update(Buffer.from(`01${halves}`, 'hex'))
    .digest('hex');
}

/** A store of the runs of a tree, as the stores of a host keep them. */
function treeOf(hashes: readonly string[], every = hashes.length): { reader: TreeReader; tree: GrowingTree } {
  const stored = new Map<string, string>();
  const tree = new GrowingTree();
  const keep = () => {
    for (const { level, first, hashes } of tree.takeRuns()) {
      expect(hashes.length).toBeLessThanOrEqual(256);
      for (const [at, hash] of hashes.entries()) stored.set(`${level}/${first + at}`, hash);
    }
  };
  for (const [index, hash] of hashes.entries()) {
    tree.add(hash);
    if ((index + 1) % every === 0) keep();
  }
  keep();
  return {
    tree,
    reader: {
      async hashes(level, from, count) {
        const found = Array.from({ length: count }, (_, at) => stored.get(`${level}/${from + at}`));
        return found.flatMap((hash) => hash ?? []);
      },
    },
  };
}

const entryHash = (n: number) => createHash('sha256').update(String(n)).digest('hex');
const hashes = Array.from({ length: 1500 }, (_, n) => entryHash(n));
const { reader } = treeOf(hashes, 37);
const heads = new Map<number, Awaited<ReturnType<typeof treeHead>>>();
async function headAt(size: number) {
  const head = heads.get(size) ?? (await treeHead(storedNodes(reader), size));
  heads.set(size, head);
  return head;
}
const size = fc.integer({ min: 1, max: hashes.length });

describe(covers('auth.audit.merkle-tree'), () => {
  const leaves = vectors.leaves.map((hex) => leafHash(Buffer.from(hex, 'hex')));
  const nodes = {
    node: async (level: number, index: number) => rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
  };

  test.each(vectors.roots.map((root, treeSize) => ({ treeSize, root })))(
    'the root of $treeSize leaves',
    async (vector) => {
      expect(await treeHead(nodes, vector.treeSize)).toEqual({ treeSize: vector.treeSize, rootHash: vector.root });
    },
  );

  test.each(vectors.inclusion)('the inclusion of leaf $index in $treeSize', async ({ index, treeSize, proof }) => {
    expect(await inclusionProof(nodes, index, treeSize)).toEqual(proof);
    const head = { treeSize, rootHash: vectors.roots[treeSize] ?? '' };
    expect(verifyInclusion({ leaf: leaves[index] ?? '', index, head, proof })).toBe(true);
  });

  test.each(vectors.consistency)('the consistency of $first and $second', async ({ first, second, proof }) => {
    expect(await consistencyProof(nodes, first, second)).toEqual(proof);
    const head = (treeSize: number) => ({ treeSize, rootHash: vectors.roots[treeSize] ?? '' });
    expect(verifyConsistency({ first: head(first), second: head(second), proof })).toBe(true);
  });

  test('a growing tree and a stored one have the root of the definition', async () => {
    const leaves = hashes.map(entryLeaf);
    for (const end of [1, 2, 255, 256, 257, 511, 512, 700]) {
      const { tree } = treeOf(hashes.slice(0, end));
      const head = { treeSize: end, rootHash: rootOf(leaves.slice(0, end)) };
      expect(tree.head()).toEqual(head);
      expect(await headAt(end)).toEqual(head);
      const continued = await GrowingTree.stored(reader, end);
      continued.add(hashes[end] ?? '');
      expect(continued.head()).toEqual(await headAt(end + 1));
    }
  });

  test('levels above the stored ones are made from them', async () => {
    const many = Array.from({ length: 65_537 }, (_, n) => entryHash(n % 7));
    const { tree, reader } = treeOf(many, 1000);
    expect(await treeHead(storedNodes(reader), many.length)).toEqual(tree.head());
    const proof = await inclusionProof(storedNodes(reader), 40_000, many.length);
    expect(proof).toHaveLength(17);
    const leaf = entryLeaf(many[40_000] ?? '');
    expect(verifyInclusion({ leaf, index: 40_000, head: tree.head(), proof })).toBe(true);
  });

  test('one reader proves entries of a tree that grows, and reads again after a failure', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(size, fc.nat(), fc.boolean()), { maxLength: 12 }), async (asked) => {
        let stored = 0;
        let fails = false;
        const nodes = storedNodes({
          async hashes(level, from, count) {
            if (fails) throw new Error('away');
            const found = await reader.hashes(level, from, count);
            return found.slice(0, Math.max(0, Math.floor(stored / 256 ** level) - from));
          },
        });
        for (const [treeSize, at, isAway] of asked.toSorted(([left], [right]) => left - right)) {
          stored = treeSize;
          fails = isAway;
          const index = at % treeSize;
          const proof = await inclusionProof(nodes, index, treeSize).catch(() => undefined);
          if (proof === undefined) expect(isAway).toBe(true);
          else expect(proof).toEqual(await inclusionProof(storedNodes(reader), index, treeSize));
        }
      }),
    );
  });

  test('a tree without a stored hash is told apart from one with another hash', async () => {
    const nodes = storedNodes({ hashes: async () => [] });
    await expect(treeHead(nodes, 3)).rejects.toThrow('lacks the hash 0 of the stored level 0');
  });
});

describe(covers('auth.audit.tree-proofs'), () => {
  test('every leaf of a tree of any size is proven, and no other leaf, index, size or root is', async () => {
    await fc.assert(
      fc.asyncProperty(size, fc.nat(), fc.nat(), async (treeSize, at, other) => {
        const index = at % treeSize;
        const head = await headAt(treeSize);
        const proof = await inclusionProof(storedNodes(reader), index, treeSize);
        const leaf = entryLeaf(hashes[index] ?? '');
        const claim = { leaf, index, head, proof };
        expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(treeSize)));
        expect(verifyInclusion(claim)).toBe(true);
        expect(verifyInclusion({ ...claim, leaf: entryLeaf(entryHash(-1)) })).toBe(false);
        const elsewhere = other % treeSize;
        if (elsewhere !== index) expect(verifyInclusion({ ...claim, index: elsewhere })).toBe(false);
        expect(verifyInclusion({ ...claim, head: { ...head, rootHash: leaf } })).toBe(treeSize === 1);
        expect(verifyInclusion({ ...claim, proof: [...proof, leaf] })).toBe(false);
        if (proof.length > 0) {
          expect(verifyInclusion({ ...claim, proof: proof.slice(1) })).toBe(false);
          const broken = proof.map((hash, place) =>
            place === other % proof.length ? leafHash(Buffer.from(hash)) : hash,
          );
          expect(verifyInclusion({ ...claim, proof: broken })).toBe(false);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('every two sizes of a tree are proven consistent, and no other roots are', async () => {
    await fc.assert(
      fc.asyncProperty(size, size, fc.nat(), async (one, other, place) => {
        const [first, second] = [await headAt(Math.min(one, other)), await headAt(Math.max(one, other))];
        const proof = await consistencyProof(storedNodes(reader), first.treeSize, second.treeSize);
        expect(verifyConsistency({ first, second, proof })).toBe(true);
        const lie = (head: typeof first) => ({ ...head, rootHash: leafHash(Buffer.from(head.rootHash)) });
        expect(verifyConsistency({ first: lie(first), second, proof })).toBe(false);
        expect(verifyConsistency({ first, second: lie(second), proof })).toBe(false);
        expect(verifyConsistency({ first, second, proof: [...proof, first.rootHash] })).toBe(false);
        if (proof.length === 0) return;
        expect(verifyConsistency({ first: second, second: first, proof })).toBe(false);
        expect(verifyConsistency({ first, second, proof: proof.slice(0, -1) })).toBe(false);
        const at = place % proof.length;
        const broken = proof.map((hash, index) => (index === at ? leafHash(Buffer.from(hash)) : hash));
        expect(verifyConsistency({ first, second, proof: broken })).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['a fraction', { index: 0.5 }],
    ['a negative index', { index: -1 }],
    ['an index behind the tree', { index: 8 }],
    ['upper case', { leaf: entryLeaf(entryHash(0)).toUpperCase() }],
    ['no hash', { proof: ['x'] }],
    ['a proof without end', { proof: Array.from({ length: 200 }, () => entryHash(0)) }],
  ])('a claim with %s is false', async (_name, change) => {
    const proof = await inclusionProof(storedNodes(reader), 0, 8);
    const claim = { leaf: entryLeaf(entryHash(0)), index: 0, head: await headAt(8), proof };
    expect(verifyInclusion(claim)).toBe(true);
    expect(verifyInclusion({ ...claim, ...change })).toBe(false);
  });

  test('a proof of a leaf or a head that the tree does not have is refused', async () => {
    const nodes = storedNodes(reader);
    for (const [index, treeSize] of [
      [8, 8],
      [-1, 8],
      [0.5, 8],
      [0, 0],
      [0, Number.NaN],
    ] as const)
      await expect(inclusionProof(nodes, index, treeSize)).rejects.toThrow('inclusionProof: index must be');
    for (const [first, second] of [
      [9, 8],
      [-1, 8],
      [0.5, 8],
    ] as const)
      await expect(consistencyProof(nodes, first, second)).rejects.toThrow(
        'consistencyProof: first and second must be',
      );
  });
});

describe(covers('auth.audit.signed-note'), async () => {
  const pair = generateKeyPairSync('ed25519');
  const signer = await ed25519Signer(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const ORIGIN = 'svc.example.com/host/acme/audit';
  const key = noteKey(ORIGIN, signer.publicKey);
  const head = { origin: ORIGIN, treeSize: 20_852_163, rootHash: entryHash(1) };
  const note = await signedHead(head, signer);

  test('the key ids are those of published keys', () => {
    for (const published of vectors.noteKeys) {
      const [name = '', , base64 = ''] = published.split(/\+(?=[0-9a-f]{8}\+)|(?<=\+[0-9a-f]{8})\+/);
      const spki = Buffer.concat([
        Buffer.from('302a300506032b6570032100', 'hex'),
        Buffer.from(base64, 'base64').subarray(1),
      ]);
      expect(noteKey(name, spki.toString('base64'))).toBe(published);
    }
  });

  test('a note has the lines of a checkpoint, and is opened with its key alone', async () => {
    const [origin, size, root, blank, signature, end] = note.split('\n');
    expect([origin, size, blank, end]).toEqual([ORIGIN, '20852163', '', '']);
    expect(Buffer.from(root ?? '', 'base64').toString('hex')).toBe(entryHash(1));
    expect(signature).toMatch(/^\u2014 svc\.example\.com\/host\/acme\/audit [A-Za-z0-9+/]{91}=$/);
    expect(await openHead(note, [key])).toEqual(head);
    expect(await openHead(note, [])).toBeUndefined();
    expect(await openHead(note, [noteKey('other.example', signer.publicKey)])).toBeUndefined();
  });

  test('a note with any other byte in its text is not opened', async () => {
    const end = note.indexOf('\n\n');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(end),
        fc.string({ minLength: 1, maxLength: 1, unit: 'binary-ascii' }),
        async (at, other) => {
          fc.pre(note[at] !== other);
          expect(await openHead(note.slice(0, at) + other + note.slice(at + 1), [key])).toBeUndefined();
        },
      ),
    );
  });

  test('texts that are no notes are not opened', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), async (text) => {
        expect(await openHead(text, [key])).toBeUndefined();
        expect(await openHead(`${note.slice(0, 40)}${text}`, [key])).toBeUndefined();
      }),
    );
    expect(await openHead(note.repeat(200), [key])).toBeUndefined();
  });

  test.each(['', 'with space', 'with+plus', 'line\nbreak', 'ümlaut', 'x'.repeat(256)])(
    'the origin %j is refused',
    async (origin) => {
      await expect(signedHead({ ...head, origin }, signer)).rejects.toThrow('audit origin: must have');
      expect(() => noteKey(origin, signer.publicKey)).toThrow('audit origin: must have');
    },
  );

  test('a cosignature is taken from the named witness, over this note and this time', async () => {
    const other = generateKeyPairSync('ed25519');
    const raw = other.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    const id = createHash('sha256')
      .update('witness.example/w1\n')
      .update(Buffer.of(4))
      .update(raw)
      .digest()
      .subarray(0, 4);
    const witnessKey = `witness.example/w1+${id.toString('hex')}+${Buffer.concat([Buffer.of(4), raw]).toString('base64')}`;
    const line = (time: number, text: string, name = 'witness.example/w1') => {
      const stamp = Buffer.alloc(8);
      stamp.writeBigUInt64BE(BigInt(time));
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), other.privateKey);
      return `\u2014 ${name} ${Buffer.concat([id, stamp, signature]).toString('base64')}\n`;
    };
    const text = note.slice(0, note.indexOf('\n\n') + 1);
    const good = line(1_679_315_147, text);
    expect(await cosignaturesOf(note, good, witnessKey)).toEqual([{ line: good, time: 1_679_315_147 }]);
    expect(await openHead(note + good, [key])).toEqual(head);
    const foreign = await signedHead({ ...head, treeSize: 1 }, signer);
    for (const [of, lines, by] of [
      [note, line(1, text, 'witness.example/w2'), witnessKey],
      [note, line(1, `${text}more\n`), witnessKey],
      [foreign, good, witnessKey],
      [note, good, key],
      [note, good.trimEnd(), witnessKey],
      [note, 'nothing\n', witnessKey],
      [note, '', witnessKey],
    ] as const)
      expect(await cosignaturesOf(of, lines, by)).toEqual([]);
  });
});
