/**
 * Finds the imports of a TypeScript or JavaScript file without a parser: it separates comments, strings, templates and
 * regular expressions, and then matches the few forms of an import.
 *
 * @param {string} text
 * @returns {Import[]}
 *
 * @typedef {{ specifier: string, line: number, star: boolean }} Import `star`: true for `export *`
 */
export function importsOf(text) {
  const tokens = tokensOf(text);
  return tokens.flatMap((token, index) => {
    if (token.text !== 'import' && token.text !== 'export') return [];
    if (tokens[index - 1]?.text === '.') return [];
    const source = token.text === 'import' ? importSource(tokens, index) : exportSource(tokens, index);
    if (source === undefined) return [];
    const line = text.slice(0, token.at).split('\n').length;
    return [
      { specifier: source.text.slice(1, -1), line, star: token.text === 'export' && tokens[index + 1].text === '*' },
    ];
  });
}

/** Reads `import 'x'`, `import('x')` and `import … from 'x'`. */
function importSource(tokens, index) {
  const next = tokens[index + 1];
  if (isString(next)) return next;
  if (next?.text === '(') return isString(tokens[index + 2]) ? tokens[index + 2] : undefined;
  return next?.text === '.' ? undefined : sourceAfter(tokens, index + 1);
}

/**
 * Reads `export { … } from 'x'` and `export * from 'x'`, also with `type`. Every other export is of the file itself.
 */
function exportSource(tokens, index) {
  const start = tokens[index + 1]?.text === 'type' ? index + 2 : index + 1;
  const opening = tokens[start]?.text;
  if (opening === '*') return sourceAfter(tokens, start);
  if (opening !== '{') return undefined;
  const closing = tokens.findIndex(({ text }, at) => at > start && text === '}');
  return tokens[closing + 1]?.text === 'from' && isString(tokens[closing + 2]) ? tokens[closing + 2] : undefined;
}

function sourceAfter(tokens, start) {
  for (let at = start; at < tokens.length && tokens[at].text !== ';'; at += 1) {
    if (tokens[at].text === 'from' && isString(tokens[at + 1])) return tokens[at + 1];
  }
  return undefined;
}

function isString(token) {
  return token?.kind === 'string';
}

const TOKEN = {
  blank: /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  string: /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y,
  word: /[\p{L}\p{N}_$#@]+/uy,
  regex: /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[a-z]*/y,
  template: /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y,
};

/** Keywords after which a slash begins a regular expression; after any other word it divides. */
const BEFORE_REGEX = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'delete',
  'throw',
  'await',
  'yield',
]);

/** Splits a text into tokens. A template without substitutions is a string, because `import(`x`)` is an import. */
function tokensOf(text) {
  const tokens = [];
  /** One entry for each open brace: true when closing it returns to a template. */
  const braces = [];
  let at = 0;
  while (at < text.length) {
    const here = at;
    const take = (kind) => {
      TOKEN[kind].lastIndex = at;
      const found = TOKEN[kind].exec(text)?.[0];
      if (found !== undefined) at += found.length;
      return found;
    };
    const push = (kind) => tokens.push({ kind, text: text.slice(here, at), at: here });
    const intoTemplate = () => {
      const piece = take('template') ?? '`';
      if (piece.endsWith('${')) braces.push(true);
      return piece;
    };
    if (take('blank') !== undefined) continue;
    if (take('string') !== undefined) push('string');
    else if (take('word') !== undefined) push('word');
    else if (text[at] === '/' && mayBeRegex(tokens.at(-1)) && take('regex') !== undefined) push('regex');
    else if (text[at] === '`') {
      at += 1;
      push(intoTemplate().endsWith('${') ? 'template' : 'string');
    } else if (text[at] === '}' && braces.pop() === true) {
      at += 1;
      intoTemplate();
      push('template');
    } else {
      if (text[at] === '{') braces.push(false);
      at += 1;
      push('mark');
    }
  }
  return tokens;
}

function mayBeRegex(previous) {
  if (previous === undefined) return true;
  if (previous.kind === 'word') return BEFORE_REGEX.has(previous.text);
  return previous.kind === 'mark' && ![')', ']', '}'].includes(previous.text);
}
