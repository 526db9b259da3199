import { describe, expect, test } from 'vitest';

interface Reader {
  importsOf(text: string): { specifier: string; line: number; star: boolean }[];
}

const { importsOf }: Reader = await import(new URL('./import-specifiers.mjs', import.meta.url).href);
const specifiersOf = (text: string) => importsOf(text).map(({ specifier }) => specifier);

describe('finds an import', () => {
  test.each([
    ['of names', "import { a, b as c } from 'x';"],
    ['over lines', "import {\n  a,\n  b,\n} from 'x';"],
    ['of everything under a name', "import * as a from 'x';"],
    ['of the default and names', 'import a, { b } from "x";'],
    ['of types', "import type { A } from 'x';"],
    ['of one type among names', "import { type A, b } from 'x';"],
    ['for its effect', "import 'x';"],
    ['with attributes', "import a from 'x' with { type: 'json' };"],
    ['dynamic', "const a = await import('x');"],
    ['dynamic, in a template without substitutions', 'const a = await import(`x`);'],
    ['dynamic, inside of a template', `const a = \`\${await import('x')}\`;`],
    ['as a type', "let a: import('x').A;"],
    ['export of names', "export { a, b as c } from 'x';"],
    ['export of types', "export type { A } from 'x';"],
    ['without semicolons', "export const a = 1\nimport { b } from 'x'\n"],
    ['after a regular expression with a quote', "const a = /['\"`]/.test(b);\nimport 'x';"],
    ['after a division', "const a = b / c; import 'x'; const d = e / f;"],
  ])('%s', (_, text) => {
    expect(specifiersOf(text)).toEqual(['x']);
  });

  test('with its line, and with a mark for export *', () => {
    expect(importsOf("// one\nexport * from 'x';\nexport * as b from 'y';\nimport * as c from 'z';")).toEqual([
      { specifier: 'x', line: 2, star: true },
      { specifier: 'y', line: 3, star: true },
      { specifier: 'z', line: 4, star: false },
    ]);
  });
});

describe('finds no import', () => {
  test.each([
    ['in a line comment', "// import 'x';"],
    ['in a comment', "/* import 'x';\n import 'x'; */"],
    ['in a docstring', "/**\n * @example\n * import { a } from 'x';\n */"],
    ['in a string', 'const a = "import \'x\'";'],
    ['in a template', `const a = \`import { b } from 'x'; \${c} import 'x'\`;`],
    ['in a template inside of a template', `const a = \`\${\`import 'x'\`} import 'x'\`;`],
    ['in a regular expression', "const a = /import 'x'/;"],
    ['a property', "a.import('x');"],
    ['the module itself', 'const a = import.meta.url; const from = "x";'],
    ['an export of a local name', "export { a }; const from = 'x';"],
    ['an export of a value', "export const from = 'x';"],
  ])('%s', (_, text) => {
    expect(specifiersOf(text)).toEqual([]);
  });
});
