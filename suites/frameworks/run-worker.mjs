/**
 * Runs the worker of a project as `wrangler dev` does: bundled by esbuild, in workerd, with the bindings of wrangler.jsonc
 * and the variables of `.env`. `node run-worker.mjs PORT` in the folder of the project.
 */
import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { parseEnv } from 'node:util';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const { main, compatibility_date, durable_objects } = JSON.parse(readFileSync('wrangler.jsonc', 'utf8'));
const { outputFiles } = await build({
  entryPoints: [main],
  bundle: true,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:*'],
  write: false,
});
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: compatibility_date,
  bindings: parseEnv(readFileSync('.env', 'utf8')),
  durableObjects: Object.fromEntries(
    durable_objects.bindings.map(({ name, class_name }) => [name, { className: class_name, useSQLite: true }]),
  ),
  cf: false,
  host: '127.0.0.1',
  port: Number(argv[2]),
  handleRuntimeStdio(stdout, stderr) {
    stdout.pipe(process.stdout);
    stderr.pipe(process.stderr);
  },
});
await worker.ready;
process.once('SIGTERM', () => void worker.dispose());
