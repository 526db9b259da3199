/** Returns the name that is the most similar to a text, in letters of either case; the first one of several. */
export function nearestOf(text: string, names: Iterable<string>): string {
  let nearest = '';
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const edits = distance(text.slice(0, LONGEST).toLowerCase(), name.toLowerCase());
    if (edits < least) [nearest, least] = [name, edits];
  }
  return nearest;
}

/** A longer text is compared by its beginning. */
const LONGEST = 64;

/** The number of characters to insert, delete or replace that turns one text into the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (from[index] === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
