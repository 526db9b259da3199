import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { env, execPath } from 'node:process';

/**
 * Runs the installed command `svc-conformance`, as `npx` does.
 *
 * @param {{ folder: string }} workspace with the packages
 * @param {{ url: string, key: string }} host
 * @param {...string} args
 * @returns {Promise<{ code: number, report: any, problems: string }>} the exit code, the report, and standard error
 */
export async function conformance({ folder }, { url, key }, ...args) {
  const command = join(folder, 'node_modules/@svc/conformance/dist/cli/main.js');
  const child = spawn(execPath, [command, url, '--json', '-', ...args], { env: { ...env, SVC_KEY: key } });
  const [chunks, problems] = [[], []];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => problems.push(chunk));
  const [code] = await once(child, 'close');
  const text = Buffer.concat(chunks).toString();
  return { code, report: text === '' ? undefined : JSON.parse(text), problems: Buffer.concat(problems).toString() };
}

/** The checks of a report that failed or warned, with the reason. */
export function failures({ results }) {
  return results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'warned')
    .map(({ id, major, failure }) => [id, major, failure]);
}
