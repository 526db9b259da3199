import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const { SVC_TARBALLS: tarballs = '', SVC_CHECKOUT: checkout = '' } = env;
if (tarballs === '' || checkout === '') throw new Error('Run npm run suites -- frameworks in the checkout.');

/** Imports a module of the checkout's tools. */
export function tool(name) {
  return import(pathToFileURL(join(checkout, 'tools', name)).href);
}

const { unpackAll } = await tool('package-consumer.mjs');
const { readPage } = await tool('page-blocks.mjs');
const { Terminal } = await tool('terminal.mjs');

const SUITE = fileURLToPath(new URL('.', import.meta.url));

/** For one command, on a busy machine: a build of Next.js is the longest. */
const COMMAND_MS = 300_000;
const START_MS = 60_000;

/**
 * Unpacks the packages into a folder below the suite, whose frameworks are found from there.
 *
 * @param {string} name of the folder
 * @returns {Promise<string>} the folder
 */
export async function furnish(name) {
  const folder = join(SUITE, '.projects', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await unpackAll(tarballs, folder);
  return folder;
}

/** The names of the templates of a package, such as `create-host`. */
export function templatesOf(folder, creator) {
  return readdirSync(join(folder, 'node_modules/@svc', creator, 'templates')).sort();
}

/** A project that was created by `npm create @svc/…`, and is used as its README says. */
export class Project {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
    this.started = undefined;
  }

  /**
   * Creates a project.
   *
   * @param {string} parent the result of {@link furnish}
   * @param {'create-host' | 'create-receiver'} creator
   * @param {string} framework
   */
  static async create(parent, creator, framework) {
    const folder = join(parent, `my-${creator.slice('create-'.length)}-${framework}`);
    const { bin } = JSON.parse(readFileSync(join(parent, 'node_modules/@svc', creator, 'package.json'), 'utf8'));
    const program = join(parent, 'node_modules/@svc', creator, Object.values(bin)[0]);
    const project = new Project(folder);
    const { code, output } = await project.#run([execPath, program, folder, '--framework', framework], parent);
    if (code !== 0) throw new Error(`${creator} failed:\n${output}`);
    // npx looks here for a package and its program, and would otherwise download them.
    for (const name of ['.bin', '@svc']) mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    for (const name of ['webhook-verify', 'conformance']) provide(parent, folder, name);
    return project;
  }

  /** Runs a command of the project, which is expected to fail. Returns its exit code and its output. */
  async fails(script, environment = {}) {
    const { code, output } = await this.#run(['bash', '-c', `exec ${script}`], this.folder, environment);
    if (code === 0) throw new Error(`${script} did not fail in ${this.folder}:\n${output}`);
    return { code, output };
  }

  /** The commands of a block of the README, counted from 0. */
  block(index) {
    const { blocks } = readPage(readFileSync(join(this.folder, 'README.md'), 'utf8'));
    return blocks.filter(({ language }) => language === 'sh')[index]?.lines ?? [];
  }

  /** Runs a script of the project, or of its README, to its end. Returns its output. */
  async run(script, environment = {}) {
    const { code, output } = await this.#run(['bash', '-ec', script], this.folder, environment);
    if (code !== 0) throw new Error(`${script} failed in ${this.folder}:\n${output}`);
    return output;
  }

  /**
   * Runs the first block of the README, and waits for the server that its last command starts. The packages are
   * installed already.
   *
   * @param {{ url: string, environment?: Record<string, string>, server?: string }} options `url` answers once the server
   * runs; `server` replaces the last command
   * @returns {Promise<string>} the output of the commands before the last
   */
  async start({ url, environment = {}, server }) {
    const commands = this.block(0);
    if (commands[0] !== 'npm install') throw new Error('The first command of the README is not npm install.');
    let output = '';
    for (const command of commands.slice(1, -1)) output += await this.run(command);
    await this.startServer({ url, environment, server: server ?? commands.at(-1) });
    return output;
  }

  /** Starts the server with one command, and waits until it answers. */
  async startServer({ url, environment = {}, server }) {
    const options = { cwd: this.folder, env: environmentWith(environment) };
    this.started = new Terminal('bash', ['-c', `exec ${server}`], options);
    const deadline = Date.now() + START_MS;
    while (!(await answers(url))) {
      if (this.started.isOver || Date.now() > deadline) {
        throw new Error(`${server} does not answer at ${url}:\n${this.output}`);
      }
      await this.started.shows(() => false, 100);
    }
  }

  /** Everything that the server has printed. */
  get output() {
    return this.started?.output ?? '';
  }

  /** Waits until the server has printed a text. */
  async shows(text) {
    const isShown = (output) => output.includes(text);
    if (!(await this.started.shows(isShown, 10_000))) throw new Error(`not shown: ${text}\n${this.output}`);
  }

  /** The command of a script of package.json. A signal reaches it without npm, which would end at once. */
  script(name) {
    return JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8')).scripts[name];
  }

  /** Interrupts the server as Ctrl+C does. Returns its exit code; undefined when it did not end within 20 seconds. */
  async interrupt() {
    this.started.signal('SIGINT');
    const { code } = await this.started.end(20_000);
    this.started = undefined;
    return code;
  }

  /** Ends the server and everything that it has started. */
  async stop() {
    this.started?.kill();
    await this.started?.end(10_000);
    this.started = undefined;
  }

  async #run([command, ...args], cwd, environment = {}) {
    return new Terminal(command, args, { cwd, env: environmentWith(environment) }).end(COMMAND_MS);
  }
}

/** Links a package and its commands into a project. */
function provide(parent, folder, name) {
  const from = join(parent, 'node_modules/@svc', name);
  const commands = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')).bin;
  for (const [command, file] of Object.entries(commands)) {
    symlinkSync(join(from, file), join(folder, 'node_modules/.bin', command));
  }
  symlinkSync(from, join(folder, 'node_modules/@svc', name), 'junction');
}

/** The environment of a newcomer, with this Node. Nothing is downloaded or reported. */
function environmentWith(additions) {
  const { NODE_OPTIONS, NODE_ENV, NODE_TEST_CONTEXT, ...rest } = env;
  const offline = { NEXT_TELEMETRY_DISABLED: '1', npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  const path = [dirname(execPath), join(SUITE, 'node_modules/.bin'), env.PATH ?? ''].join(delimiter);
  return { ...rest, ...offline, NO_COLOR: '1', PATH: path, ...additions };
}

/** A host answers 503 until it has started. */
async function answers(url) {
  try {
    const response = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(5000) });
    await response.arrayBuffer();
    return response.status !== 503;
  } catch {
    return false;
  }
}
