import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSuite } from './bundle.ts';
import type { SuiteReport } from './report.ts';

const DEADLINE_MS = 60_000;

const WORKER = `import suite from './suite.js';
export default { test: async () => { console.log('REPORT ' + JSON.stringify(await suite())); } };
`;

const config = (flags: readonly string[]) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .main)]);
const main :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ${JSON.stringify(flags)},
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "suite.js", esModule = embed "suite.js")
  ]
);
`;

/**
 * Runs a suite in the runtime of Cloudflare Workers.
 *
 * @param flags the compatibility flags of the Worker; without `nodejs_compat` it has no module of Node
 */
export async function runInWorkerd(
  program: string,
  suite: URL,
  flags: readonly 'nodejs_compat'[] = [],
): Promise<SuiteReport> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-workerd-'));
  try {
    writeFileSync(join(folder, 'worker.js'), WORKER);
    writeFileSync(join(folder, 'suite.js'), await bundleSuite(suite, 'workerd'));
    writeFileSync(join(folder, 'config.capnp'), config(flags));
    const child = spawn(program, ['test', 'config.capnp'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    const [code] = await once(child, 'close');
    const report = /REPORT (\{.*\})/.exec(output)?.[1];
    if (code !== 0 || report === undefined) throw new Error(`workerd ended with ${code}:\n${output}`);
    return JSON.parse(report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
