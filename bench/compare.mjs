import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printTable } from './table.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ROUNDS = 12;
const DELIVERIES = 4000;
/** The first rounds do not count, because part of the code is not compiled yet. */
const WARM_UP = 2;
const RESAMPLES = 2000;
const NAMES = { raw: 'undici POST loop', own: 'one subscription hears', shared: 'all 100 hear' };

/**
 * `npm run bench -- compare REV [STORE]`: says what a delivery costs now, and what it cost at a revision, on `sqlite` or
 * `postgres`. Both are measured in turns, with the benchmark of now, so that other load on the machine meets both. The interval
 * is of the ratio of the two in one round: where it contains 0 %, nothing is shown to have moved. On PostgreSQL the ratio is
 * that of the host and the server together.
 */
export async function compare(revision, store = 'sqlite') {
  const before = checkedOut(revision);
  const children = {};
  try {
    for (const [name, root] of Object.entries({ before: before.root, now: ROOT }))
      children[name] = await started(root, store);
    const rounds = [];
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const measured = {};
      // The order alternates, because a load that rises would favour the first.
      const order = round % 2 === 0 ? ['before', 'now'] : ['now', 'before'];
      for (const name of order) measured[name] = await asked(children[name], { deliveries: DELIVERIES });
      if (round >= WARM_UP) rounds.push(measured);
    }
    return report(revision, store, rounds);
  } finally {
    for (const { process, gone } of Object.values(children)) {
      if (process.connected) process.send({});
      await gone.catch(() => {});
    }
    before.remove();
  }
}

/** Checks a revision out beside the working tree, with the benchmarks and the dependencies of now. */
function checkedOut(revision) {
  const root = mkdtempSync(join(tmpdir(), 'svc-compare-'));
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  git('worktree', 'add', '--detach', '--force', root, revision);
  for (const folder of ['', 'bench']) {
    const [from, to] = [join(ROOT, folder, 'node_modules'), join(root, folder, 'node_modules')];
    mkdirSync(to);
    for (const name of readdirSync(from)) {
      // The packages of the project are links into the tree, so they are copied: they then lead to the revision.
      if (name === '@svc') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
      else symlinkSync(join(from, name), join(to, name));
    }
  }
  const isSource = (path) => !/[\\/](?:node_modules|results)(?:[\\/]|$)/.test(path.slice(ROOT.length));
  cpSync(join(ROOT, 'bench'), join(root, 'bench'), { recursive: true, filter: isSource });
  return {
    root,
    remove() {
      git('worktree', 'remove', '--force', root);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function started(root, store) {
  const process = fork(join(root, 'bench/host-kit/delivery-cost.mjs'), [store], {
    execArgv: ['--conditions=@svc/source', '--no-warnings'],
    cwd: root,
  });
  const gone = once(process, 'exit').then(([code]) =>
    Promise.reject(new Error(`A measurement ended with code ${code}.`)),
  );
  gone.catch(() => {});
  await Promise.race([once(process, 'message'), gone]);
  return { process, gone };
}

async function asked({ process, gone }, message) {
  process.send(message);
  const [answer] = await Promise.race([once(process, 'message'), gone]);
  return answer;
}

function report(revision, store, rounds) {
  const found = {};
  for (const name of Object.keys(NAMES)) {
    const ratios = rounds.map(({ before, now }) => whole(now[name]) / whole(before[name]));
    const of = (when, unit) => median(rounds.map((round) => round[when][name][unit]));
    const both = (unit) => ({ before: of('before', unit), now: of('now', unit) });
    const [low, high] = interval(ratios);
    found[name] = {
      micros: both('micros'),
      database: both('database'),
      kilobytes: both('kilobytes'),
      ratio: median(ratios),
      interval: [low, high],
    };
  }
  const inBoth = ({ before, now }) => `${before.toFixed(1)} → ${now.toFixed(1)}`;
  printTable(
    [`CPU µs of a delivery, ${revision} → now`, 'host', 'database', 'moved', '95 % interval', 'KB written'],
    Object.entries(found).map(
      ([
        name,
        {
          micros,
          database,
          kilobytes,
          ratio,
          interval: [low, high],
        },
      ]) => [
        NAMES[name],
        inBoth(micros),
        inBoth(database),
        percent(ratio),
        `${percent(low)} to ${percent(high)}`,
        inBoth(kilobytes),
      ],
    ),
  );
  return { revision, store, rounds: rounds.length, deliveries: DELIVERIES, found };
}

/** Returns the processor time of the host and the database together. */
function whole({ micros, database }) {
  return micros + database;
}

function percent(ratio) {
  const moved = Math.round((ratio - 1) * 100);
  return `${moved > 0 ? '+' : ''}${moved} %`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Returns the 95 % interval of the median, by resampling. The numbers are the same each time, for the same rounds. */
function interval(values) {
  let state = 1;
  const below = (bound) => {
    state = (state * 48271) % 2147483647;
    return state % bound;
  };
  const medians = Array.from({ length: RESAMPLES }, () => median(values.map(() => values[below(values.length)]))).sort(
    (a, b) => a - b,
  );
  return [medians[Math.floor(RESAMPLES * 0.025)], medians[Math.floor(RESAMPLES * 0.975)]];
}
