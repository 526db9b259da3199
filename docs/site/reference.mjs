/**
 * Writes `docs/reference/` from the docstrings, one page for each entry of each package: `npm run docs -- reference`. The build of
 * the site does it too.
 */
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Converter, ReflectionKind } from 'typedoc';
import { MarkdownPageEvent, ModuleRouter } from 'typedoc-plugin-markdown';
import { linkInterface } from './interface-links.mjs';
import { ROOT, readModel } from './model.mjs';

const FOLDER = join(ROOT, 'docs/reference');

/** The page that the mentions of the interface in docstrings lead to. */
const INTERFACE = join(ROOT, 'docs/interface.md');

/**
 * Writes the pages, into a folder that is emptied first.
 *
 * @returns {Promise<string[]>} TypeDoc's warnings
 * @throws {Error} when the pages cannot be written
 */
export async function writeReference() {
  const interfacePage = readFileSync(INTERFACE, 'utf8');
  const { app, project, warnings } = await readModel(OPTIONS, (app) => {
    app.renderer.defineRouter('entries', EntryRouter);
    app.options.setValue('outputs', [{ name: 'markdown', path: FOLDER }]);
    app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
      for (const reflection of Object.values(project.reflections)) prepare(reflection);
    });
    app.renderer.on(MarkdownPageEvent.END, (page) => {
      const href = relative(dirname(join(FOLDER, page.url)), INTERFACE).replaceAll('\\', '/');
      const text = page.url === 'README.md' ? introduced(page.contents) : page.contents;
      page.contents = `${linkInterface(text.trimEnd(), interfacePage, href)}\n`;
    });
  });
  rmSync(FOLDER, { recursive: true, force: true });
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error(app.logger.errors.join('\n'));
  return warnings;
}

/** The list of all entries is generated without a sentence. */
function introduced(text) {
  return text.replace(/^# .+\n/, '$&\nThe symbols of every entry of every package, from their docstrings.\n');
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

/** Adds what the generator leaves out, the error class of a `@throws`, and drops the lists of extending interfaces. */
function prepare(reflection) {
  delete reflection.extendedBy;
  // TypeDoc names a parameter that the code destructures so.
  if (reflection.name.startsWith('__namedParameters')) reflection.name = 'options';
  for (const tag of reflection.comment?.blockTags ?? []) {
    if (tag.tag !== '@throws' || tag.typeAnnotation === undefined) continue;
    const name = tag.typeAnnotation.replace(/^\{|\}$/g, '');
    tag.content.unshift({ kind: 'code', text: `\`${name}\`` }, { kind: 'text', text: ' ' });
  }
}

async function main() {
  const problems = await writeReference();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log(`The reference is in ${relative(ROOT, FOLDER)}.`);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  await main().catch((error) => {
    console.error(error.message);
    exit(1);
  });
}
