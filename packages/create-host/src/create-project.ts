import { readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { copyTemplate } from './copy-template.ts';
import { firstCommands } from './first-commands.ts';

/** The options of {@link createProject}. */
export interface CreateOptions {
  /** The name of the program, for `--version`: `create-host`. */
  readonly name: string;
  /** The command that the user typed, for the help: `npm create @svc/host`. */
  readonly command: string;
  /** The kind of the project, for the help: `host of workflow runs`. */
  readonly noun: string;
  /** The folder of the templates. Each folder in it is a template, and has the name of its framework. */
  readonly templates: string;
  /** The version of the package of the command, for `--version`. */
  readonly version: string;
}

/** The streams of the command. `process` is one. */
export interface Terminal {
  /** Answers the questions for the folder and the framework. Read only when it is a terminal. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Receives the next commands. */
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Receives errors. */
  readonly stderr: NodeJS.WritableStream;
}

/**
 * Runs a command that creates a project from a template. It asks for the folder and the framework only on a terminal,
 * downloads nothing, and writes nothing outside of the folder.
 *
 * @param args the arguments after the name of the command
 * @returns the exit code: 0 created, 2 wrong use
 * @example
 * process.exitCode = await createProject(['my-host', '--framework', 'express'], process, options);
 */
export async function createProject(
  args: readonly string[],
  terminal: Terminal,
  options: CreateOptions,
): Promise<number> {
  const frameworks = readdirSync(options.templates).sort();
  try {
    const asked = read(args, options.command, frameworks);
    if (asked.help) terminal.stdout.write(help(options, frameworks));
    else if (asked.version) terminal.stdout.write(`${options.name} ${options.version}\n`);
    else await create(asked, frameworks, terminal, options);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.stderr.write(`${error.message}\n`);
    return 2;
  }
}

interface Asked {
  readonly folder: string | undefined;
  readonly framework: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
}

function read(args: readonly string[], command: string, frameworks: readonly string[]): Asked {
  const { values, positionals } = parsed(args);
  const [folder, ...others] = positionals;
  const [other] = others;
  // npm takes --framework for an option of its own, and passes its value alone.
  if (folder !== undefined && other !== undefined && frameworks.includes(other))
    throw new UsageError(`Put -- before --framework: ${command} ${quoted(folder)} -- --framework ${other}.`);
  if (other !== undefined) throw new UsageError('FOLDER: is given more than once. Pass one folder.');
  const { framework, help = false, version = false } = values;
  return { folder, framework, help, version };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        framework: { type: 'string', short: 'f' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const [option] = /--[\w-]+/.exec(message) ?? /-\w/.exec(message) ?? ['options'];
    throw new UsageError(`${option}: is unknown, or its value is wrong. Run the command with --help.`);
  }
}

async function create(
  asked: Asked,
  frameworks: readonly string[],
  terminal: Terminal,
  options: CreateOptions,
): Promise<void> {
  if (asked.folder !== undefined) refuseFilled(asked.folder, resolve(asked.folder));
  const { name, framework } = await completed(asked, frameworks, terminal, options.command);
  const folder = resolve(name);
  if (!frameworks.includes(framework)) {
    throw new UsageError(`--framework: there is no template ${framework}. Pass one of ${frameworks.join(', ')}.`);
  }
  copyTemplate(join(options.templates, framework), folder, packageNameOf(folder));
  const place = relative('.', folder);
  const commands = [...(place === '' ? [] : [`cd ${quoted(place)}`]), ...firstCommands(folder)];
  terminal.stdout.write(`Created ${name} for ${framework}. Next:\n\n${commands.map(indented).join('')}\n`);
}

/** A new repository is empty, too. */
function refuseFilled(name: string, folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new UsageError(`${name}: is a file. Pass a folder that is empty or does not exist.`);
  if (readdirSync(folder).some((entry) => entry !== '.git')) {
    throw new UsageError(`${name}: is not empty. Pass a folder that is empty or does not exist.`);
  }
}

/**
 * Asks for the folder and the framework, if they were not given.
 *
 * @throws {UsageError} when the input is not a terminal, where a question would wait for ever; and for a folder that was
 * typed and cannot be used
 */
async function completed(
  { folder, framework }: Asked,
  frameworks: readonly string[],
  { stdin, stdout }: Terminal,
  command: string,
): Promise<{ readonly name: string; readonly framework: string }> {
  if (folder !== undefined && framework !== undefined) return { name: folder, framework };
  const example = `${command} my-${command.split('/').at(-1)} -- --framework ${frameworks[0]}`;
  const list = frameworks.join(', ');
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    if (folder === undefined) throw new UsageError(`FOLDER: is missing. Pass the folder of the project: ${example}.`);
    throw new UsageError(`--framework: is missing. Pass one of ${list}: ${example}.`);
  }
  const questions = createInterface({ input: stdin, output: stdout });
  let isClosed = false;
  questions.once('close', () => {
    isClosed = true;
  });
  // Keeps the lines that arrive before their question.
  const lines = questions[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    questions.setPrompt(question);
    // Its input may have ended already, with the answer among the lines.
    if (isClosed) stdout.write(question);
    else questions.prompt();
    const { value } = await lines.next();
    return typeof value === 'string' ? value.trim() : '';
  };
  try {
    const name = folder ?? (await ask('Folder: '));
    if (name === '') throw new UsageError(`FOLDER: is missing. Pass the folder of the project: ${example}.`);
    if (folder === undefined) refuseFilled(name, resolve(name));
    return { name, framework: framework ?? (await ask(`Framework (${list}): `)).toLowerCase() };
  } finally {
    questions.close();
  }
}

/** Makes the name of a package from the name of a folder. */
function packageNameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'my-project' : name;
}

function quoted(path: string): string {
  return /^[\w./\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function indented(line: string): string {
  return `  ${line}\n`;
}

function help({ command, noun }: CreateOptions, frameworks: readonly string[]): string {
  return `Usage: ${command} FOLDER -- --framework FRAMEWORK

Creates a ${noun}. FOLDER must be empty, or not exist. Its name becomes the name of the package.
On a terminal, the command asks for a missing folder or framework.

Options:
  --framework, -f FRAMEWORK   ${frameworks.join(', ')}
  --version, -v               prints the version
  --help, -h                  prints this help

Exit code: 0 created, 2 wrong use.
`;
}

/** Wrong use of the command. The message says how to use it. */
class UsageError extends Error {}
