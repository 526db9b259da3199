/**
 * Reads the fenced blocks of a Markdown page, and the HTML comments that configure how they are checked.
 *
 * | Comment | Meaning |
 * |---|---|
 * | `<!-- prelude` + code + `-->` | hidden code before each `ts` block up to the next prelude; `prelude sh` for `sh` |
 * | `<!-- continues -->` | the next block is one program with the block of its language before it |
 * | `<!-- compile only: reason -->` | the next `ts` block is compiled and not run |
 * | `<!-- not run: reason -->` | the next block is not run |
 * | `<!-- stays running -->` | the next `sh` block of a start page runs until the end of the page |
 * | `<!-- run by path/of/a.test.ts -->` | that test runs the page's blocks; the check only compiles or parses them |
 * | `<!-- with PostgreSQL -->` | the page's programs get the URL of an empty database in `DATABASE_URL` |
 *
 * @param {string} text of the page
 * @returns {{ blocks: Block[], preludes: Prelude[], runBy?: string, withPostgres?: true, problems: { line: number, problem: string }[] }}
 *
 * @typedef {{ line: number, lines: string[] }} Part lines of the page, from line number `line` (counted from 1)
 * @typedef {Part & { language: string, continues: boolean, staysRunning: boolean, exception?: string }} Block
 * @typedef {Part & { language: string }} Prelude
 */
export function readPage(text) {
  const page = { blocks: [], preludes: [], problems: [] };
  const lines = text.split(/\r?\n/);
  let marks = {};
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const fence = FENCE.exec(line);
    if (fence !== null) {
      const end = endOf(lines, index + 1, (candidate) => closes(candidate, fence));
      page.blocks.push(blockOf(lines, index, end, fence, marks));
      if (end === lines.length) page.problems.push({ line: index + 1, problem: 'the block is not closed' });
      index = end;
      marks = {};
    } else if (line.startsWith('<!--')) {
      const end = endOf(lines, index, (candidate) => candidate.includes('-->'));
      readComment(page, marks, lines.slice(index, end + 1), index + 1);
      index = end;
    } else if (line.trim() !== '') {
      // A mark stands right above its block.
      marks = {};
    }
  }
  return page;
}

const FENCE = /^( *)(`{3,}|~{3,})[ \t]*([^\s`]*)/;

function closes(line, [, , fence = '']) {
  const text = line.trim();
  return text.startsWith(fence) && text.replaceAll(fence[0] ?? '', '') === '';
}

function endOf(lines, from, isEnd) {
  const length = lines.slice(from).findIndex(isEnd);
  return length === -1 ? lines.length : from + length;
}

function blockOf(lines, start, end, [, indent = '', , language = ''], marks) {
  const body = lines.slice(start + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  return { language, line: start + 2, lines: body, continues: false, staysRunning: false, ...marks };
}

const COMMENT =
  /^<!--\s*(prelude|continues|stays running|compile only|not run|run by|with PostgreSQL)\b:?\s*(.*?)\s*(?:-->.*)?$/;

function readComment(page, marks, lines, line) {
  const [, kind, rest = ''] = COMMENT.exec(lines[0] ?? '') ?? [];
  if (kind === 'prelude') {
    page.preludes.push({ language: rest === '' ? 'ts' : rest, line: line + 1, lines: lines.slice(1, -1) });
  } else if (kind === 'continues') {
    marks.continues = true;
  } else if (kind === 'stays running') {
    marks.staysRunning = true;
  } else if (kind === 'with PostgreSQL') {
    page.withPostgres = true;
  } else if (kind === 'run by') {
    page.runBy = rest;
  } else if (kind !== undefined) {
    if (rest === '') page.problems.push({ line, problem: `"${kind}" needs a reason: <!-- ${kind}: … -->` });
    marks.exception = rest;
  }
}
