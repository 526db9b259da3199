/**
 * Finds every occurrence of a pattern, in time linear in the text (Knuth, Morris and Pratt).
 *
 * @returns the index of each occurrence, overlapping ones included
 */
export function* occurrences(text: string, pattern: string): Generator<number, undefined> {
  // A search for a short text is linear, and nearly every text is done with it.
  let index = pattern === '' ? -1 : text.indexOf(pattern.slice(0, PREFIX));
  if (index < 0) return;
  const shorter = bordersOf(pattern);
  let matched = 0;
  for (; index < text.length; index++) {
    while (matched > 0 && text.charCodeAt(index) !== pattern.charCodeAt(matched)) matched = shorter[matched - 1] ?? 0;
    if (text.charCodeAt(index) === pattern.charCodeAt(matched)) matched += 1;
    if (matched < pattern.length) continue;
    yield index - matched + 1;
    matched = shorter[matched - 1] ?? 0;
  }
}

const PREFIX = 8;

/** For each prefix of the pattern, the length of its longest proper prefix that is also its suffix. */
function bordersOf(pattern: string): readonly number[] {
  const borders = [0];
  let border = 0;
  for (let index = 1; index < pattern.length; index++) {
    while (border > 0 && pattern.charCodeAt(index) !== pattern.charCodeAt(border)) border = borders[border - 1] ?? 0;
    if (pattern.charCodeAt(index) === pattern.charCodeAt(border)) border += 1;
    borders.push(border);
  }
  return borders;
}
