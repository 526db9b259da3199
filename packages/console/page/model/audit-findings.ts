import type { AuditEntry } from '../data/shapes.ts';
import { type NotedHead, openNote } from './audit-note.ts';
import { entryHash, verifyConsistency, verifyInclusion } from './audit-proof.ts';

/** One thing about the log: it was verified, it is wrong, or it was not verified. */
export interface Finding {
  readonly outcome: 'verified' | 'wrong' | 'not verified';
  readonly name: string;
  readonly sentence: string;
}

/** Judges the signed head. Without a head that the key has signed, nothing else can be verified. */
export async function judgeHead(
  note: string,
  publicKey: string,
): Promise<{ readonly head: NotedHead | undefined; readonly finding: Finding }> {
  const name = 'Signed head';
  const head = await openNote(note, publicKey).catch(() => 'none' as const);
  if (head === 'none') {
    const sentence = 'This browser has no Ed25519, so the signature was not checked. Use a newer browser.';
    return { head: undefined, finding: { outcome: 'not verified', name, sentence } };
  }
  if (head === undefined) {
    const sentence = 'The note has no valid signature of the key that the host publishes.';
    return { head, finding: { outcome: 'wrong', name, sentence } };
  }
  const sentence = `The key of the host has signed a log of ${head.treeSize.toLocaleString('en')} entries.`;
  return { head, finding: { outcome: 'verified', name, sentence } };
}

/** Judges entries: each has the hash of its content, and the signed tree contains it. */
export async function judgeEntries(entries: readonly AuditEntry[], head: NotedHead): Promise<readonly Finding[]> {
  const changed: number[] = [];
  const absent: number[] = [];
  for (const entry of entries) {
    const computed = await entryHash(entry).catch(() => '');
    if (computed !== entry.hash) changed.push(entry.atSequence);
    // With the computed hash: that which the host names proves nothing about the content.
    else if (!(await verifyInclusion(computed, entry.atSequence - 1, head, entry.proof ?? []))) {
      absent.push(entry.atSequence);
    }
  }
  return [
    judged('Content', changed, entries.length, 'has the hash of its content', 'The content does not have its hash'),
    judged(
      'Inclusion',
      absent,
      entries.length - changed.length,
      'is in the signed log',
      'Not proven to be in the signed log',
    ),
    judged(
      'Repetition',
      repeatedIn(entries),
      entries.length,
      'is listed once',
      'Listed more than once, in place of others',
    ),
  ];
}

/** A page that lists an entry twice has no room for another one, and every proof of it is valid. */
function repeatedIn(entries: readonly AuditEntry[]): readonly number[] {
  const seen = new Set<number>();
  const repeated = new Set<number>();
  for (const { atSequence } of entries) {
    if (seen.has(atSequence)) repeated.add(atSequence);
    seen.add(atSequence);
  }
  return [...repeated];
}

function judged(name: string, wrong: readonly number[], all: number, good: string, bad: string): Finding {
  if (wrong.length > 0) {
    const more = wrong.length > 10 ? ` and ${wrong.length - 10} more` : '';
    return {
      outcome: 'wrong',
      name,
      sentence: `${bad}: ${wrong
        .slice(0, 10)
        .map((at) => `entry ${at}`)
        .join(', ')}${more}.`,
    };
  }
  if (all === 0) return { outcome: 'not verified', name, sentence: 'There was no entry to look at.' };
  return { outcome: 'verified', name, sentence: `Each of ${all.toLocaleString('en')} entries ${good}.` };
}

/** A head of an earlier visit, as its note and the key of that time. */
export interface Earlier {
  readonly note: string;
  readonly publicKey: string;
}

/**
 * Judges whether the log continues that of an earlier visit.
 *
 * @param readProof asks the host for the consistency proof between two sizes
 */
export async function judgeContinuation(
  earlier: Earlier | 'unreadable' | undefined,
  publicKey: string,
  head: NotedHead,
  readProof: (first: number, second: number) => Promise<readonly string[]>,
): Promise<Finding> {
  const name = 'Continuation';
  const wrong = (sentence: string): Finding => ({ outcome: 'wrong', name, sentence });
  if (earlier === undefined) {
    const sentence = 'This browser has seen no earlier head of this host. It remembers this one for the next visit.';
    return { outcome: 'not verified', name, sentence };
  }
  const before = earlier === 'unreadable' ? undefined : await openNote(earlier.note, earlier.publicKey);
  if (earlier === 'unreadable' || before === undefined) {
    return { outcome: 'not verified', name, sentence: 'The head that this browser has stored cannot be read.' };
  }
  if (earlier.publicKey !== publicKey || before.origin !== head.origin) {
    return wrong(
      'The key or the name of the log differs from that of your last visit. Ask the owner of the host for the reason.',
    );
  }
  const sizes = `${before.treeSize.toLocaleString('en')} entries then, ${head.treeSize.toLocaleString('en')} now`;
  if (before.treeSize > head.treeSize)
    return wrong(`The log is shorter than at your last visit: ${sizes}. It was cut or restored.`);
  try {
    const isSame = before.treeSize === head.treeSize;
    const proof = isSame ? [] : await readProof(before.treeSize, head.treeSize);
    if (await verifyConsistency(before, head, proof)) {
      return { outcome: 'verified', name, sentence: `The log continues that of your last visit: ${sizes}.` };
    }
    return wrong(`The log is not the one of your last visit: entries before it were changed or removed (${sizes}).`);
  } catch (error) {
    const sentence = `The host gave no proof: ${error instanceof Error ? error.message : 'it failed.'}`;
    return { outcome: 'not verified', name, sentence };
  }
}
