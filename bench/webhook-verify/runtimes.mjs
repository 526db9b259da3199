import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';
import { SIZES } from './delivery.mjs';

const ROUNDS = 7;
const ROUND_MS = 80;
const INSTALLED = new URL('../../tools/runtimes/node_modules/', import.meta.url);
const program = (path) => fileURLToPath(new URL(path, INSTALLED));
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Measures `verifySignature` in each runtime, with the build that it selects, as a share of the runtime's own HMAC in a bare
 * loop. The programs of the runtimes come with `npm test`.
 */
export default async function runtimes() {
  const sizes = Object.values(SIZES);
  const args = [here('runtime-program.mjs'), JSON.stringify([sizes, ROUNDS, ROUND_MS])];
  const found = {
    Node: await inProcess(process.execPath, args),
    Bun: await inProcess(program('bun/bin/bun.exe'), ['run', ...args]),
    Deno: await inProcess(program('.bin/deno'), ['run', '--allow-read', '--allow-env', '--no-prompt', ...args]),
    'workerd, nodejs_compat': await inWorkerd(sizes),
  };
  const shares = Object.fromEntries(
    Object.entries(found).map(([name, rounds]) => [name, rounds.map((one) => shareOf(one))]),
  );
  printTable(
    ['verifySignature per second (share of the own HMAC)', ...Object.keys(SIZES)],
    Object.entries(shares).map(([name, all]) => [
      name,
      ...all.map(({ perSecond, share }) => `${rate(perSecond)} (${share.toFixed(2)})`),
    ]),
  );
  return { limit: 'own HMAC', sizes: Object.keys(SIZES), shares };
}

function shareOf(rounds) {
  const own = summary(rounds.map(([rate]) => rate));
  const ours = summary(rounds.map(([, rate]) => rate));
  return { perSecond: ours.perSecond, share: ours.perSecond / own.perSecond };
}

async function inProcess(path, args) {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${path} ended with ${code}.`);
  return JSON.parse(output);
}

const WORKER = `import { loops, repeat } from './loops.js';
const made = new Map();
export default { fetch(request) {
  const { searchParams } = new URL(request.url);
  const size = Number(searchParams.get('size'));
  if (!made.has(size)) made.set(size, Object.values(loops(size)));
  repeat(made.get(size)[Number(searchParams.get('loop'))], Number(searchParams.get('count')));
  return new Response('done');
} };
`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
  modules = [(name = "worker.js", esModule = embed "worker.js"), (name = "loops.js", esModule = embed "loops.js")]
);
`;

/** The clock of a Worker stands still while it computes, so its requests are timed from outside. */
async function inWorkerd(sizes) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-workerd-'));
  writeFileSync(join(folder, 'worker.js'), WORKER);
  writeFileSync(join(folder, 'loops.js'), await bundled());
  writeFileSync(join(folder, 'config.capnp'), CONFIG);
  const child = spawn(program('.bin/workerd'), ['serve', 'config.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  try {
    const [line] = await once(child.stdio[3], 'data');
    const { port } = JSON.parse(String(line).split('\n')[0]);
    const timeOf = async (size, loop, count) => {
      const started = performance.now();
      const response = await fetch(`http://127.0.0.1:${port}/?size=${size}&loop=${loop}&count=${count}`);
      if ((await response.text()) !== 'done') throw new Error('The Worker failed.');
      return performance.now() - started;
    };
    const found = [];
    for (const size of sizes) found.push(await measured((loop, count) => timeOf(size, loop, count)));
    return found;
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(timeOf) {
  const counts = [1, 1];
  for (const loop of [0, 1]) {
    while ((await timeOf(loop, counts[loop])) < ROUND_MS) counts[loop] *= 2;
  }
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const rates = [];
    for (const loop of [0, 1]) {
      const empty = await timeOf(loop, 0);
      rates.push((counts[loop] / ((await timeOf(loop, counts[loop])) - empty)) * 1000);
    }
    rounds.push(rates);
  }
  return rounds;
}

async function bundled() {
  const { build } = createRequire(createRequire(import.meta.url).resolve('tsup'))('esbuild');
  const { outputFiles } = await build({
    entryPoints: [here('runtime-loops.mjs')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    logLevel: 'silent',
  });
  return outputFiles[0].text;
}
