import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startStores } from '../host-kit/stores.mjs';
import { printTable, rate } from '../table.mjs';
import { CANDIDATES } from './candidates.mjs';

const ROUNDS = 3;
/** Runs before the first that counts, because the code of the new process is not compiled yet. */
const WARM_UP = 64;
const ONE_BY_ONE = 100;
const AT_ONCE = 32;
const RUNS = 320;
const KILLED = 20;

/**
 * Measures engines on the same work, workflows of three steps, each in a host and a process of its own: workflows per
 * second at 32 at a time and the processor time of each, the time of one alone, the time from `kill -9` of the host in the middle of 20 runs to the end
 * of all of them in another host, and memory. A step that has ended must not be done again.
 */
export default async function engines() {
  const stores = await startStores();
  const rounds = Object.fromEntries(Object.keys(CANDIDATES).map((name) => [name, []]));
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [name, candidate] of Object.entries(CANDIDATES)) {
        const server = await candidate.start?.();
        try {
          const place = stores.places[candidate.store](`${name.replaceAll(/\W/g, '_').toLowerCase()}_${round}`);
          const measured = await measure({ name, place, server: server?.place });
          rounds[name].push({ ...measured, serverMb: (await server?.memoryMb()) ?? 0 });
        } finally {
          await server?.stop();
        }
        const { perSecond, medianMs, recoveryMs } = rounds[name].at(-1);
        console.log(
          `round ${round} of ${ROUNDS}, ${name}: ${rate(perSecond)}/s, ${medianMs.toFixed(1)} ms, recovered after ${seconds(recoveryMs)}`,
        );
      }
    }
  } finally {
    await stores.stop();
  }
  const found = Object.fromEntries(Object.entries(rounds).map(([name, measured]) => [name, medians(measured)]));
  printTable(
    [
      'workflows of three steps',
      'per second',
      'CPU of host',
      'median',
      '99 %',
      'after kill -9',
      'memory',
      'its server',
    ],
    Object.entries(found).map(([name, { perSecond, cpuMs, medianMs, p99Ms, recoveryMs, peakMb, serverMb }]) => [
      ...[name, rate(perSecond), ...[cpuMs, medianMs, p99Ms].map((ms) => `${ms.toFixed(1)} ms`), seconds(recoveryMs)],
      ...[`${Math.round(peakMb)} MB`, serverMb === 0 ? '–' : `${Math.round(serverMb)} MB`],
    ]),
  );
  console.log(`${AT_ONCE} at a time; median and 99 % of one at a time; CPU of a workflow; no step was done again`);
  return { rounds: ROUNDS, runs: RUNS, atOnce: AT_ONCE, oneByOne: ONE_BY_ONE, killed: KILLED, found, each: rounds };
}

async function measure(options) {
  const host = await launch(options);
  await host.tell('measure', { runs: WARM_UP, atOnce: AT_ONCE });
  const { times } = await host.tell('measure', { runs: ONE_BY_ONE, atOnce: 1 });
  const { elapsed, cpuMs } = await host.tell('measure', { runs: RUNS, atOnce: AT_ONCE });
  const { peakMb } = await host.tell('memory');
  await host.stop();
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.round((times.length - 1) * share)];
  const recovered = await recover(options);
  return {
    ...{ perSecond: (RUNS / elapsed) * 1000, cpuMs: cpuMs / RUNS, medianMs: at(0.5), p99Ms: at(0.99) },
    ...{ peakMb, ...recovered },
  };
}

/** Kills a host in the middle of runs, and starts another at once. */
async function recover(options) {
  const first = await launch(options);
  const { runIds } = await first.tell('hang', { runs: KILLED });
  await first.kill();
  const killedAt = performance.now();
  const second = await launch(options);
  const { repeated } = await second.tell('finish', { runIds });
  const recoveryMs = performance.now() - killedAt;
  await second.stop();
  if (repeated > 0) throw new Error(`${options.name} did ${repeated} steps again that had ended.`);
  return { recoveryMs };
}

/** Starts a host in a process of its own, and waits until it is ready. */
async function launch(options) {
  const program = new URL('./process.mjs', import.meta.url);
  const child = fork(program, [JSON.stringify(options)], { execArgv: process.execArgv });
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The host with ${options.name} ended with ${code ?? signal}.`);
  });
  gone.catch(() => {});
  const said = async () => {
    const [answer] = await Promise.race([once(child, 'message'), gone]);
    return answer;
  };
  await said();
  return {
    async tell(command, rest = {}) {
      child.send({ command, ...rest });
      return said();
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async stop() {
      child.send({ command: 'stop' });
      await said();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function medians(rounds) {
  const names = ['perSecond', 'cpuMs', 'medianMs', 'p99Ms', 'recoveryMs', 'peakMb', 'serverMb'];
  return Object.fromEntries(
    names.map((name) => {
      const sorted = rounds.map((round) => round[name]).sort((a, b) => a - b);
      return [name, sorted[Math.floor(sorted.length / 2)]];
    }),
  );
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
