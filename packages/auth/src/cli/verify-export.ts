import { z } from 'zod';
import { entryHash } from '../audit/chain.ts';
import { noteKey, openHead, originOf } from '../audit-tree/note.ts';
import type { TreeHead } from '../audit-tree/tree.ts';
import { entryLeaf } from '../audit-tree/tree-hash.ts';
import { verifyInclusion } from '../audit-tree/tree-proofs.ts';
import { jsonOf, linesOf, PROVEN_ENTRY } from './audit-file.ts';
import { type Terminal, UsageError } from './terminal.ts';

/** Returns whether a file begins as an export does. */
export async function isExport(path: string): Promise<boolean> {
  for await (const [, text] of linesOf('FILE', path)) return NOTE_LINE.safeParse(jsonOf(text)).success;
  return false;
}

/**
 * Verifies an export of `svc-audit export`, line by line: the signature of its head, the hash of every entry, and the proof
 * that the tree of the head contains it. Returns the exit code.
 */
export async function verifyExport(
  path: string,
  publicKeys: readonly string[],
  { json, terminal }: { readonly json: boolean; readonly terminal: Terminal },
): Promise<number> {
  const problems: string[] = [];
  const report = (problem: string) => {
    if (problems.length < MOST_PROBLEMS) problems.push(problem);
  };
  let [head, entries, last, isComplete] = [NO_HEAD, 0, Number.MAX_SAFE_INTEGER, false];
  for await (const [number, text] of linesOf('FILE', path)) {
    const line = LINE.safeParse(jsonOf(text)).data;
    if (isComplete) report(`line ${number}: follows the end of the export`);
    if (line === undefined) report(`line ${number}: is not a line of an export`);
    else if ('note' in line) {
      const opened = entries === 0 && head === NO_HEAD ? await openedBy(line.note, publicKeys) : undefined;
      if (opened === undefined) report(`line ${number}: no public key has signed this head`);
      else head = opened;
    } else if ('complete' in line) isComplete = true;
    else {
      const { proof, ...entry } = line;
      const { atSequence, hash } = entry;
      entries++;
      if (atSequence >= last) report(`entry ${atSequence}: does not come before entry ${last}`);
      if (entryHash(entry) !== hash) report(`entry ${atSequence}: was changed, its hash is another one`);
      else if (!verifyInclusion({ leaf: entryLeaf(hash), index: atSequence - 1, head, proof }))
        report(`entry ${atSequence}: is not proven to be in the log`);
      last = atSequence;
    }
  }
  const result = { treeSize: head.treeSize, entries, isComplete, isValid: problems.length === 0, problems };
  terminal.stdout.write(json ? `${JSON.stringify(result, undefined, 2)}\n` : textOf(result));
  return result.isValid ? 0 : 1;
}

const MOST_PROBLEMS = 1000;
const NO_HEAD: TreeHead = { treeSize: 0, rootHash: '' };

function openedBy(note: string, publicKeys: readonly string[]): Promise<TreeHead | undefined> {
  const origin = originOf(note);
  if (origin === undefined) throw new UsageError('FILE: its first line holds no signed head. Export the log again.');
  return openHead(
    note,
    publicKeys.map((key) => noteKey(origin, key)),
  );
}

function textOf({
  treeSize,
  entries,
  isComplete,
  problems,
}: {
  readonly treeSize: number;
  readonly entries: number;
  readonly isComplete: boolean;
  readonly problems: readonly string[];
}): string {
  const lines = [`The export has ${entries} entries of a log of ${treeSize}.`, ...problems.map((one) => `✗ ${one}.`)];
  if (problems.length === 0) lines.push('✓ The head is signed, and every entry is in the log.');
  if (!isComplete) lines.push('· The export was interrupted. Run svc-audit export again with the same file.');
  lines.push('· An export does not show that the host listed every entry of the tenant.');
  return `${lines.join('\n')}\n`;
}

const NOTE_LINE = z.strictObject({ note: z.string().max(16_384) });
const LINE = z.union([PROVEN_ENTRY, NOTE_LINE, z.strictObject({ complete: z.literal(true) })]);
