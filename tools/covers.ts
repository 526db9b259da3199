import { readFileSync } from 'node:fs';

/**
 * Returns the title of a group of tests that check rules of the interface.
 *
 * @param ids rules of `docs/requirements.json`; literals, so that `tools/check-requirements.mjs` can count them
 * @returns the title: every id with its sentence
 * @throws {Error} when an id is unknown; the message names the closest known ones
 * @example
 * describe(covers('webhooks.verify.freshness'), () => { … });
 */
export function covers(...ids: [string, ...string[]]): string {
  return ids.map(titleOf).join(' | ');
}

function titleOf(id: string): string {
  const sentence = sentences.get(id);
  if (sentence === undefined) {
    throw new Error(
      `covers: '${id}' is not in docs/requirements.json. The closest ids are ${closestTo(id).join(', ')}.`,
    );
  }
  return `${id}: ${sentence}`;
}

interface RequirementsFile {
  readonly requirements: readonly { readonly id: string; readonly sentence: string }[];
}

const file = readFileSync(new URL('../docs/requirements.json', import.meta.url), 'utf8');
const { requirements } = JSON.parse(file) as RequirementsFile;
const sentences = new Map(requirements.map(({ id, sentence }) => [id, sentence]));

function closestTo(id: string): string[] {
  return [...sentences.keys()]
    .map((known) => ({ known, distance: editDistance(id, known) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ known }) => known);
}

/** Computes Levenshtein's distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
