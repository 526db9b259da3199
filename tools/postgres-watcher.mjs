import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// Ends a PostgreSQL server whose owner was killed: its standard input is a pipe from the owner, which closes with it. A server
// that was stopped has removed the file with its process id, so nothing is left to do.
const [data = '', folder = ''] = process.argv.slice(2);
const DEADLINE_MS = 30_000;
const QUARTER = 250;

process.stdin.resume();
process.stdin.on('error', () => {});
await new Promise((resolve) => process.stdin.once('close', resolve));

const server = serverOf(data);
if (server !== undefined) {
  signal(server, 'SIGINT');
  for (let waited = 0; isAlive(server) && waited < DEADLINE_MS; waited += QUARTER) {
    await new Promise((resolve) => setTimeout(resolve, QUARTER));
    // A clean shutdown is not worth more than a few seconds: a crash loses no committed data.
    if (waited === 5000) signal(server, 'SIGQUIT');
  }
}
if (folder !== '') rmSync(folder, { recursive: true, force: true });

/** Returns the process of the server of a data folder. Undefined: none runs. */
function serverOf(folder) {
  try {
    const id = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isSafeInteger(id) && id > 1 && isServer(id, folder) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Another process may have the id of a server that was killed. Only Linux tells what a process runs. */
function isServer(id, folder) {
  if (process.platform !== 'linux') return isAlive(id);
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0').includes(folder);
  } catch {
    return false;
  }
}

function isAlive(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

function signal(id, name) {
  try {
    process.kill(id, name);
  } catch {
    // It has ended meanwhile.
  }
}
