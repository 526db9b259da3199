import { anchorOf } from '../../tools/heading-anchor.mjs';

/**
 * Makes links of the mentions `Interface: <section>` of a page of the reference, which the `@see` of a docstring becomes. A section is a heading
 * of `docs/interface.md`; a mention of no heading there leads to the page itself.
 *
 * @param {string} text of the page
 * @param {string} interfacePage the text of `docs/interface.md`
 * @param {string} href of that page, from the page of the reference
 */
export function linkInterface(text, interfacePage, href) {
  const headings = [...interfacePage.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading]) => heading);
  return text.replace(/\bInterface: ([^;\n|]+)/g, (_mention, section) => {
    const heading = headingOf(section, headings);
    const hash = heading === undefined ? '' : `#${anchorOf(heading)}`;
    return `[Interface](${href}${hash}): ${section}`;
  });
}

/** The innermost named heading: in `Versioning, Paths, 3` it is `Paths`. */
function headingOf(section, headings) {
  const parts = section
    .replace(/[`\\]/g, '')
    .split(/[,:]/)
    .map((part) => part.trim());
  const found = parts.map((part) => (ENDPOINT.test(part) ? 'Endpoints' : named(part, headings)));
  return found.findLast((heading) => heading !== undefined);
}

const ENDPOINT = /^(GET|POST|PUT|PATCH|DELETE) \//;

/** A mention may leave out the remark in brackets of a heading, or have one of its own. */
function named(part, headings) {
  if (!/^[A-Z]/.test(part)) return undefined;
  const bare = part.replace(/ \([^)]*\)$/, '');
  return headings.find((heading) => heading === part) ?? headings.find((heading) => heading.startsWith(bare));
}

/**
 * Makes a link of the first mention of `the interface` in the prose of a page. Headings, code and links stay as they are.
 *
 * @param {string} text of the page
 * @param {string} href of `docs/interface.md`, from the page
 */
export function linkFirstMention(text, href) {
  let isCode = false;
  let isDone = false;
  const lines = text.split('\n').map((line) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    if (isDone || isCode || /^(#|<!--|---)/.test(line)) return line;
    return line.replace(/\bthe interface\b/g, (mention, offset) => {
      if (isDone || !isProse(line.slice(0, offset))) return mention;
      isDone = true;
      return `[${mention}](${href})`;
    });
  });
  return lines.join('\n');
}

/** Whether a place of a line is neither in a link nor in code, by the text before it. */
function isProse(before) {
  const count = (mark) => before.split(mark).length - 1;
  return count('[') === count(']') && count('`') % 2 === 0;
}
