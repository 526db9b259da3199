import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, Logger, LogLevel, TSConfigReader } from 'typedoc';

/** The checkout that this folder is part of. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Reads every entry of every package with TypeDoc, from the sources.
 *
 * @param {Partial<import('typedoc').TypeDocOptions>} options options of TypeDoc for the caller's own purpose
 * @param {(app: Application) => void} [prepare] runs before the sources are read
 * @returns {Promise<Model>} `warnings` has a sentence for each broken `{@link}`, each `@param` without a parameter, and
 *   the like; `unexported` has one for each type of a package that an entry mentions and no entry exports
 * @throws {Error} when TypeDoc cannot read the sources
 *
 * @typedef {import('typedoc').ProjectReflection} Project
 * @typedef {{ app: Application, project: Project, warnings: string[], unexported: string[] }} Model
 */
export async function readModel(options, prepare = () => {}) {
  const entries = entriesOf(ROOT);
  const app = await Application.bootstrapWithPlugins(
    { ...OPTIONS, entryPoints: entries.map(({ file }) => file), ...options },
    [new TSConfigReader()],
  );
  const log = new Findings();
  app.logger = log;
  prepare(app);
  const nameOf = new Map(entries.map(({ name, file }) => [file, name]));
  const entryPoints = app.getEntryPoints() ?? [];
  for (const entryPoint of entryPoints) entryPoint.displayName = nameOf.get(entryPoint.sourceFile.fileName);
  if (entryPoints.length !== entries.length || log.errors.length > 0) throw new Error(log.errors.join('\n'));
  const project = app.converter.convert(entryPoints);
  app.validate(project);
  const warnings = [...log.errors, ...log.warnings];
  return { app, project, warnings, unexported: unexportedIn(app, project, new Set(entries.map(packageOf))).sort() };
}

/** Asks for each package in turn: TypeDoc reports the types of one package alone, after which the project is named. */
function unexportedIn(app, project, packages) {
  app.options.setValue('validation', { ...VALIDATION, invalidLink: false, invalidPath: false, notExported: true });
  const before = app.logger.warnings.length;
  for (const name of packages) {
    project.packageName = name;
    app.validate(project);
  }
  return app.logger.warnings.splice(before);
}

function packageOf({ name }) {
  return name.split('/').slice(0, 2).join('/');
}

const VALIDATION = {
  invalidLink: true,
  invalidPath: true,
  notDocumented: false,
  notExported: false,
  rewrittenLink: true,
  unusedMergeModuleWith: true,
};

/** @type {Partial<import('typedoc').TypeDocOptions>} */
const OPTIONS = {
  logLevel: 'Warn',
  tsconfig: join(ROOT, 'docs/site/tsconfig.json'),
  basePath: ROOT,
  // The step `types` of the check reports type errors; here they would only take time.
  skipErrorChecking: true,
  disableGit: true,
  readme: 'none',
  name: 'Reference',
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  validation: VALIDATION,
};

/**
 * Lists the entries in the order of the reference: packages by name, in each package its own entry before its subpaths.
 *
 * @param {string} root a checkout
 * @returns {{ name: string, folder: string, file: string }[]}
 */
export function entriesOf(root) {
  const folders = readdirSync(join(root, 'packages')).filter((folder) =>
    existsSync(join(root, 'packages', folder, 'package.json')),
  );
  return folders.sort().flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
    const sources = Object.entries(exports).filter(([, target]) => target['@svc/source'] !== undefined);
    return sources
      .map(([subpath, target]) => ({
        name: name + subpath.slice(1),
        folder,
        file: join(root, 'packages', folder, target['@svc/source']).replaceAll('\\', '/'),
      }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  });
}

/** Keeps warnings and errors instead of printing them. */
class Findings extends Logger {
  warnings = [];
  errors = [];

  log(message, level) {
    super.log(message, level);
    if (level === LogLevel.Warn) this.warnings.push(message);
    if (level === LogLevel.Error) this.errors.push(message);
  }
}
