/**
 * Writes `docs/api-reports/`, the public types of every entry: `npm run generate`. With `--check` it writes nothing,
 * and prints the difference to the reports in the checkout. Reads the built declarations.
 *
 * A report has each exported declaration without its docstring, then the declarations of the same package that these
 * mention and no entry exports: a change of them is a change of the public types too.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { entriesOf, ROOT } from './model.mjs';

const FOLDER = join(ROOT, 'docs/api-reports');

const COMMAND = 'npm run generate';

/**
 * Makes the report of every package.
 *
 * @returns {Map<string, string>} the texts by file name
 * @throws {Error} when an entry has no declarations, because the packages are not built
 */
export function apiReports() {
  const entries = entriesOf(ROOT).map(({ name, folder, file }) => ({
    name,
    folder,
    declarations: declarationsOf(file),
  }));
  const program = ts.createProgram(
    entries.map(({ declarations }) => declarations),
    { ...OPTIONS, noLib: true, types: [] },
  );
  const folders = [...new Set(entries.map(({ folder }) => folder))];
  return new Map(
    folders.map((folder) => {
      const own = entries.filter((entry) => entry.folder === folder);
      return [`${folder}.txt`, reportOf(program, join(ROOT, 'packages', folder, 'dist'), own)];
    }),
  );
}

/** The types of other packages and of the language stay names, so they need not be read. */
const OPTIONS = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: true,
  noEmit: true,
};

function declarationsOf(source) {
  return source.replace('/src/', '/dist/').replace(/\.ts$/, '.d.ts');
}

function reportOf(program, dist, entries) {
  const checker = program.getTypeChecker();
  const writer = new Report(checker, dist);
  const sections = entries.map(({ name, declarations }) => {
    const file = program.getSourceFile(declarations);
    if (file === undefined) throw new Error(`${declarations} is missing. Run \`npm run build\`.`);
    const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file));
    return { name, symbols: symbols.sort(byName) };
  });
  for (const { name, symbols } of sections) for (const symbol of symbols) writer.reserve(symbol, name);
  const texts = sections.map(
    ({ name, symbols }) => `## ${name}\n\n${symbols.map((one) => writer.lineOf(one, name)).join('\n')}`,
  );
  const mentioned = writer.mentioned();
  if (mentioned.length > 0) texts.push(`## Mentioned, and exported by no entry\n\n${mentioned.join('\n')}`);
  return `${texts.join('\n\n')}\n`;
}

/** Prints declarations, and remembers which other declarations of the package they mention. */
class Report {
  #checker;
  #dist;
  #printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });
  /** The first entry that exports each declaration: the others refer to it. */
  #homes = new Map();
  #waiting = [];
  #seen = new Set();

  constructor(checker, dist) {
    this.#checker = checker;
    this.#dist = dist.replaceAll('\\', '/');
  }

  /** Notes that an entry exports a symbol. */
  reserve(symbol, entry) {
    const target = this.#targetOf(symbol);
    if (!this.#homes.has(target)) this.#homes.set(target, { entry, name: symbol.name });
  }

  /** Returns the declarations of an exported symbol, or its place when an earlier entry exports it too. */
  lineOf(symbol, entry) {
    const target = this.#targetOf(symbol);
    const home = this.#homes.get(target);
    if (home.entry !== entry || home.name !== symbol.name)
      return `export { ${symbol.name} } as ${home.name} of ${home.entry}`;
    if (!this.#isOwn(target)) return `export { ${symbol.name} } of another package`;
    return this.#print(target);
  }

  /** Returns the declarations that the printed ones mention, directly or through others, and that no entry exports. */
  mentioned() {
    const texts = [];
    for (let symbol = this.#waiting.pop(); symbol !== undefined; symbol = this.#waiting.pop()) {
      texts.push(this.#print(symbol).replace(/^export (?:declare )?/gm, ''));
    }
    return texts.sort();
  }

  #print(symbol) {
    const texts = (symbol.declarations ?? []).map((declaration) => {
      const statement = statementOf(declaration);
      this.#follow(statement);
      const text = this.#printer.printNode(
        ts.EmitHint.Unspecified,
        withoutPrivateParts(statement),
        statement.getSourceFile(),
      );
      return withLinesForMembers(text);
    });
    return [...new Set(texts)].join('\n');
  }

  #follow(node) {
    const name = ts.isIdentifier(node) ? this.#checker.getSymbolAtLocation(node) : undefined;
    if (name !== undefined) this.#note(name);
    ts.forEachChild(node, (child) => this.#follow(child));
  }

  #note(symbol) {
    const target = this.#targetOf(symbol);
    if (this.#seen.has(target) || this.#homes.has(target) || !this.#isOwn(target)) return;
    this.#seen.add(target);
    const isTopLevel = target.declarations.some(
      (declaration) => ts.isSourceFile(statementOf(declaration).parent ?? declaration) && isNamed(declaration),
    );
    if (isTopLevel) this.#waiting.push(target);
  }

  #targetOf(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  #isOwn(symbol) {
    return (symbol.declarations ?? []).some((declaration) =>
      declaration.getSourceFile().fileName.startsWith(this.#dist),
    );
  }
}

/** Returns false for members, parameters and type parameters, which are printed with the declaration around them. */
function isNamed(declaration) {
  const { parent } = declaration;
  return ts.isSourceFile(parent) || (ts.isVariableDeclaration(declaration) && ts.isSourceFile(parent.parent.parent));
}

/** Prints each member of a long union in a line of its own, so that a difference shows the member. */
function withLinesForMembers(text) {
  const isLong = text.length > 120 && text.includes(' = ') && !/[(){}[\]<>\n]/.test(text);
  if (!isLong) return text;
  const [head, members] = text.split(' = ');
  return [`${head} =`, ...members.split(' | ').map((member) => `    | ${member}`)].join('\n');
}

/** A variable is printed with its `const`. */
function statementOf(declaration) {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

/** Private members are no part of the public types. */
function withoutPrivateParts(statement) {
  if (!ts.isClassDeclaration(statement)) return statement;
  const members = statement.members.filter((member) => {
    const isPrivate = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private;
    return !isPrivate && !(member.name !== undefined && ts.isPrivateIdentifier(member.name));
  });
  const { modifiers, name, typeParameters, heritageClauses } = statement;
  return ts.factory.updateClassDeclaration(statement, modifiers, name, typeParameters, heritageClauses, members);
}

function byName(one, other) {
  return one.name < other.name ? -1 : 1;
}

/** Returns the lines that were removed and added, each with its report. Lines that only moved are left out. */
function differences(fresh) {
  const names = new Set([...fresh.keys(), ...reportsIn(FOLDER)]);
  return [...names].sort().flatMap((name) => {
    const now = linesOf(fresh.get(name));
    const before = linesOf(textOf(join(FOLDER, name)));
    const lines = [
      ...without(before, now).map((line) => `- ${line}`),
      ...without(now, before).map((line) => `+ ${line}`),
    ];
    if (lines.length > 0) return [`docs/api-reports/${name}`, ...lines];
    return before.join('\n') === now.join('\n') ? [] : [`docs/api-reports/${name} has its lines in another order`];
  });
}

function without(lines, others) {
  const counts = new Map();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}

function linesOf(text = '') {
  return text === '' ? [] : text.split('\n');
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function reportsIn(folder) {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder);
}

function main() {
  const fresh = apiReports();
  if (argv.includes('--check')) {
    const lines = differences(fresh);
    if (lines.length === 0) return console.log(`${fresh.size} reports of the public types are current.`);
    console.error([`The public types changed. When that is intended, run \`${COMMAND}\`.`, ...lines].join('\n'));
    exit(1);
  }
  rmSync(FOLDER, { recursive: true, force: true });
  for (const [name, text] of fresh) {
    mkdirSync(dirname(join(FOLDER, name)), { recursive: true });
    writeFileSync(join(FOLDER, name), text);
  }
  console.log(`${fresh.size} reports are in ${relative(ROOT, FOLDER)}.`);
  return undefined;
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
