/**
 * Compares an output with the lines that a page shows. `…` in a shown line is any text; other lines may stand between.
 *
 * @param {string} output
 * @param {readonly string[]} shown lines, or several lines in one string, in their order
 * @returns {number | undefined} the index of the first shown line that is missing
 */
export function missingLine(output, shown) {
  let at = 0;
  for (const [index, line] of shown.entries()) {
    const pattern = patternOf(line);
    pattern.lastIndex = at;
    const found = pattern.exec(output);
    if (found === null) return index;
    at = found.index + found[0].length;
  }
  return undefined;
}

/** Whole lines; any white space matches any other, since a long value is printed over several lines. */
function patternOf(line) {
  const words = line.trim().split(/\s+/).map(escaped);
  return new RegExp(`(?<=^[ \\t]*)${words.join('\\s+').replaceAll('…', '[^]*?')}(?=[ \\t]*$)`, 'gm');
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
