/**
 * Checks that no condition tests a promise: `node tools/check-promises.mjs`. A promise is always true, so a check that was
 * not awaited lets every caller pass.
 *
 * The linter infers types of the same file only. This check asks the compiler, which also knows a function of another module.
 */
import { relative, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { SyntaxKind } from 'typescript/unstable/ast';
import { API, TypeFlags } from 'typescript/unstable/sync';

/**
 * Finds the conditions that test a promise. A promise that may be absent (`Promise<void> | undefined`) is tested for its
 * presence, which is right.
 *
 * @param {string} config the path of a `tsconfig.json`
 * @returns {string[]} one sentence for each such condition
 */
export function promiseProblems(config) {
  const root = resolve(config, '..');
  const compiler = new API({ cwd: root });
  try {
    const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config}: cannot be read. Pass the path of a tsconfig.json.`);
    return ownFilesOf(project.program, root).flatMap((file) => problemsIn(file, root, project));
  } finally {
    compiler.close();
  }
}

function ownFilesOf(program, root) {
  return program
    .getSourceFileNames()
    .filter((path) => path.startsWith(root) && !path.includes('/node_modules/') && !path.endsWith('.d.ts'))
    .sort();
}

function problemsIn(path, root, { program, checker }) {
  const file = program.getSourceFile(path);
  if (file === undefined) return [];
  const conditions = conditionsIn(file);
  const types = checker.getTypeAtLocation(conditions);
  return conditions.flatMap((condition, index) => {
    if (!isPromise(types[index], checker)) return [];
    const start = condition.getStart(file);
    const line = file.text.slice(0, start).split('\n').length;
    const text = condition.getText(file).replace(/\s+/g, ' ');
    return [`${relative(root, path)}:${line} tests the promise ${text}, which is always true. Await it.`];
  });
}

/** Lists the expressions of a file whose truth decides, each once. */
function conditionsIn(file) {
  const found = [];
  const visit = (node) => {
    const tested = testedBy(node);
    if (tested !== undefined) found.push(...partsOf(tested));
    node.forEachChild(visit);
  };
  file.forEachChild(visit);
  return [...new Set(found)];
}

function testedBy(node) {
  switch (node.kind) {
    case SyntaxKind.IfStatement:
    case SyntaxKind.WhileStatement:
    case SyntaxKind.DoStatement:
      return node.expression;
    case SyntaxKind.ForStatement:
    case SyntaxKind.ConditionalExpression:
      return node.condition;
    case SyntaxKind.PrefixUnaryExpression:
      return node.operator === SyntaxKind.ExclamationToken ? node.operand : undefined;
    case SyntaxKind.BinaryExpression:
      return isLogical(node) ? node.left : undefined;
    default:
      return undefined;
  }
}

/** In `a && b`, both decide. A negation is a condition of its own, and brackets change nothing. */
function partsOf(expression) {
  if (expression.kind === SyntaxKind.ParenthesizedExpression) return partsOf(expression.expression);
  if (expression.kind === SyntaxKind.BinaryExpression && isLogical(expression)) {
    return [...partsOf(expression.left), ...partsOf(expression.right)];
  }
  return [expression];
}

function isLogical({ operatorToken }) {
  return LOGICAL.has(operatorToken.kind);
}

const LOGICAL = new Set([
  SyntaxKind.AmpersandAmpersandToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.AmpersandAmpersandEqualsToken,
  SyntaxKind.BarBarEqualsToken,
]);

/** A union of a promise and a value is a promise for some callers, and the check falls open for those. */
function isPromise(type, checker) {
  if (type === undefined) return false;
  const members = (type.isUnionType() ? type.getTypes() : [type]).filter(({ flags }) => (flags & ABSENT) === 0);
  const promises = members.filter((member) => isThenable(member, checker));
  const isTestedForPresence = type.isUnionType() && members.length < type.getTypes().length;
  return promises.length > 0 && !(isTestedForPresence && promises.length === members.length);
}

const ABSENT = TypeFlags.Undefined | TypeFlags.Null | TypeFlags.Void;

function isThenable(type, checker) {
  if (!type.isObjectType() && !type.isIntersectionType() && !type.isTypeParameter()) return false;
  return checker.getPropertyOfType(checker.getApparentType(type) ?? type, 'then') !== undefined;
}

function main() {
  const problems = promiseProblems(fileURLToPath(new URL('../tsconfig.test.json', import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
