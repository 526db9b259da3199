import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { availableParallelism, freemem, homedir, loadavg, release, totalmem, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { arch, env, getuid, platform, umask, version } from 'node:process';

/** Programs that every machine has to have; the others come as packages. */
const PROGRAMS = ['bash', 'git', 'curl', 'tar', 'npm'];

/** The installations and the temporary files of one run need about 5 GiB. */
const LEAST_DISK_GIB = 7;
const LEAST_MEMORY_GIB = 3;
const LEAST_NODE = 20;
const GIB = 1024 ** 3;

/**
 * Looks at the machine before anything is installed.
 *
 * @param {{ temporary: string }} folders
 * @returns {{ lines: string[], problems: string[] }} ten lines for the record, and one sentence for each condition under
 *   which a run would fail for no fault of the change
 */
export function preflight({ temporary }) {
  const problems = [];
  const closed = closedParents(temporary);
  if (closed.length > 0 && getuid?.() === 0)
    problems.push(
      `${closed[0]}: other accounts cannot enter it, and PostgreSQL does not run as root. Run chmod a+x on it.`,
    );
  const disk = gibOf(statfsSync(temporary));
  if (disk < LEAST_DISK_GIB)
    problems.push(`${temporary}: has ${disk.toFixed(1)} GiB free. Free ${LEAST_DISK_GIB} GiB.`);
  if (totalmem() / GIB < LEAST_MEMORY_GIB)
    problems.push(
      `memory: ${(totalmem() / GIB).toFixed(1)} GiB are too little. Use a machine with ${LEAST_MEMORY_GIB} GiB.`,
    );
  if (Number(version.slice(1).split('.')[0]) < LEAST_NODE)
    problems.push(`node: ${version} is too old. Install Node ${LEAST_NODE} or later.`);
  const programs = PROGRAMS.map((name) => ({ name, version: versionOf(name) }));
  for (const program of programs)
    if (program.version === undefined) problems.push(`${program.name}: is not installed. Install it.`);
  const [from, until] = validity();
  if (Date.now() < from || Date.now() > until)
    problems.push(
      `date: ${new Date().toISOString()} is outside of the validity of the test certificates. Set the clock.`,
    );
  const lines = [
    `account    ${userInfo().username} (uid ${getuid?.() ?? 'none'}), umask ${umask().toString(8).padStart(3, '0')}`,
    `folders    TMPDIR ${temporary}, HOME ${homedir()}${closed.length > 0 ? `, closed to others: ${closed.join(', ')}` : ''}`,
    `variables  ${Object.keys(env).filter(mayMatter).sort().join(' ') || 'none that may matter'}`,
    `date       ${new Date().toISOString()}, ${env.TZ ?? 'no TZ'}; certificates are valid from ${day(from)} until ${day(until)}`,
    `cores      ${availableParallelism()}, load ${loadavg()[0].toFixed(1)}`,
    `memory     ${(totalmem() / GIB).toFixed(1)} GiB, ${(freemem() / GIB).toFixed(1)} GiB free`,
    `disk       ${disk.toFixed(0)} GiB free`,
    `system     ${platform} ${release()} ${arch}, ${systemName()}`,
    `programs   node ${version.slice(1)}, ${programs.map((one) => `${one.name} ${one.version ?? 'missing'}`).join(', ')}`,
  ];
  return { lines, problems };
}

function mayMatter(name) {
  return /^(node_|npm_config_|force_color$|no_color$|https?_proxy$|all_proxy$|no_proxy$|lang$|lc_|ci$|svc_)/i.test(
    name,
  );
}

/** Folders above a path, itself included, that only their owner can enter. */
function closedParents(path) {
  const parents = [];
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) parents.push(at);
    if (at === dirname(at)) return parents;
  }
}

function gibOf({ bavail, bsize }) {
  return (bavail * bsize) / GIB;
}

function versionOf(program) {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'of no known version') : undefined;
}

const CERTIFICATES = ['packages/egress-guard/test/fixtures'];

/** The time in which all certificates of the tests are valid, in ms since the epoch. */
function validity() {
  const paths = CERTIFICATES.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.pem'))
      .map((name) => join(folder, name)),
  );
  const certificates = paths.flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    return text.includes('BEGIN CERTIFICATE') ? [new X509Certificate(text)] : [];
  });
  return [
    Math.max(...certificates.map(({ validFrom }) => Date.parse(validFrom))),
    Math.min(...certificates.map(({ validTo }) => Date.parse(validTo))),
  ];
}

function day(time) {
  return new Date(time).toISOString().slice(0, 10);
}

function systemName() {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
  } catch {
    return 'no os-release';
  }
}
