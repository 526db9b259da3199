import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const BEAT_MS = 1000;
/** An owner without a beat for so long is gone, even if another process has its number by now. */
const SILENT_MS = 30_000;
const POLL_MS = 100;

/**
 * Does work that only one process at a time may do in a checkout. The lock is a file that names its owner; a lock whose
 * owner is gone is taken over.
 *
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  await acquire(path);
  const beat = setInterval(() => touch(path), BEAT_MS);
  const release = () => {
    if (read(path) === String(process.pid)) rmSync(path, { force: true });
  };
  process.once('exit', release);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    process.off('exit', release);
    release();
  }
}

async function acquire(path) {
  mkdirSync(dirname(path), { recursive: true });
  for (let said = false; !claim(path); said = true) {
    const owner = read(path);
    if (owner !== undefined && isGone(path, owner)) takeAway(path, owner);
    else {
      if (!said) console.log(`Waiting for process ${owner ?? '?'}, which is setting up this checkout …`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Tries to create the lock. A link is atomic: no process can read a lock without its owner. */
function claim(path) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function isGone(path, owner) {
  try {
    process.kill(Number(owner), 0);
  } catch (error) {
    if (error.code === 'ESRCH') return true;
  }
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  return Date.now() - mtimeMs > SILENT_MS;
}

/**
 * Removes the lock of a gone owner. Only one process can move the file; one that moved a newer owner's file restores
 * it.
 */
function takeAway(path, owner) {
  const aside = `${path}.${process.pid}.old`;
  try {
    renameSync(path, aside);
    if (read(aside) !== owner) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  rmSync(aside, { force: true });
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function touch(path) {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Another process has taken the lock over. The work continues; its stamp is written atomically.
  }
}
