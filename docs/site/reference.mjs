/**
 * Writes `docs/reference/` from the docstrings, one page for each entry of each package: `npm run docs -- reference`.
 * With `--check` it writes nothing, and fails when a page differs from the docstrings.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Converter, ReflectionKind } from 'typedoc';
import { MarkdownPageEvent, ModuleRouter } from 'typedoc-plugin-markdown';
import { ROOT, readModel } from './model.mjs';

const FOLDER = join(ROOT, 'docs/reference');

const COMMAND = 'npm run docs -- reference';

/**
 * Writes the pages.
 *
 * @param {string} folder is emptied first
 * @returns {Promise<string[]>} TypeDoc's warnings
 * @throws {Error} when the pages cannot be written
 */
export async function writeReference(folder) {
  const { app, project, warnings } = await readModel(OPTIONS, (app) => {
    app.renderer.defineRouter('entries', EntryRouter);
    app.options.setValue('outputs', [{ name: 'markdown', path: folder }]);
    app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
      for (const reflection of Object.values(project.reflections)) prepare(reflection);
    });
    app.renderer.on(MarkdownPageEvent.END, (page) => {
      page.contents = `${page.contents.trimEnd()}\n`;
    });
  });
  rmSync(folder, { recursive: true, force: true });
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error(app.logger.errors.join('\n'));
  return warnings;
}

const OPTIONS = {
  plugin: ['typedoc-plugin-markdown'],
  router: 'entries',
  excludeScopesInPaths: true,
  // A link to a line would need the repository's address, and would change with every line above it.
  disableSources: true,
  hidePageHeader: true,
  sort: ['kind', 'required-first', 'alphabetical'],
  groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', 'References'],
  useCodeBlocks: true,
  expandParameters: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  typeDeclarationVisibility: 'compact',
  tableColumnSettings: {
    hideDefaults: true,
    hideInherited: true,
    hideModifiers: true,
    hideOverrides: true,
    hideSources: true,
  },
};

/** `@svc/auth/api-key` is `auth/api-key.md`, and `@svc/auth` is `auth/README.md`. */
class EntryRouter extends ModuleRouter {
  getIdealBaseName(reflection) {
    const name = super.getIdealBaseName(reflection);
    const isPackage = reflection.kindOf(ReflectionKind.Module) && !name.includes('/');
    return isPackage ? `${name}/README` : name;
  }
}

/** Adds the error class of a `@throws`, which the generator leaves out, and drops the lists of extending interfaces. */
function prepare(reflection) {
  delete reflection.extendedBy;
  for (const tag of reflection.comment?.blockTags ?? []) {
    if (tag.tag !== '@throws' || tag.typeAnnotation === undefined) continue;
    const name = tag.typeAnnotation.replace(/^\{|\}$/g, '');
    tag.content.unshift({ kind: 'code', text: `\`${name}\`` }, { kind: 'text', text: ' ' });
  }
}

/**
 * Generates the pages anew and compares them with those in the checkout.
 *
 * @returns {Promise<string[]>} TypeDoc's warnings, and one sentence about the first page that differs
 */
export async function checkReference() {
  const fresh = mkdtempSync(join(tmpdir(), 'svc-reference-'));
  try {
    const problems = await writeReference(fresh);
    const pages = [...new Set([...pagesIn(fresh), ...pagesIn(FOLDER)])].sort();
    const differs = pages.find((page) => textOf(fresh, page) !== textOf(FOLDER, page));
    if (differs !== undefined) {
      problems.push(`docs/reference/${differs} differs from the docstrings. Run \`${COMMAND}\` and commit the result.`);
    }
    return problems;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function pagesIn(folder) {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    return files.map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    );
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function textOf(folder, page) {
  try {
    return readFileSync(join(folder, page), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function main() {
  const isCheck = argv.includes('--check');
  const problems = isCheck ? await checkReference() : await writeReference(FOLDER);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log(`${pagesIn(FOLDER).length} pages in docs/reference are current.`);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  await main().catch((error) => {
    console.error(error.message);
    exit(1);
  });
}
