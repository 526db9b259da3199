import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { link, unpackAll } from './package-consumer.mjs';

/**
 * Makes the folder of a program that has installed the packed packages and the dependencies of a suite.
 *
 * @param {string} suite the folder of the suite, with its package.json and its node_modules
 * @returns {Promise<Workspace>}
 *
 * @typedef {object} Workspace
 * @property {string} folder
 * @property {(name: string, text: string) => Promise<any>} run writes a module into the folder and imports it
 * @property {(specifier: string, options?: ImportCallOptions) => Promise<any>} load imports as a module of the folder does
 * @property {() => void} remove deletes the folder
 */
export async function packedWorkspace(suite) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-workspace-'));
  await unpackAll(env.SVC_TARBALLS, folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(suite, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) link(suite, folder, name);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');

  async function run(name, text) {
    writeFileSync(join(folder, name), text);
    return import(pathToFileURL(join(folder, name)).href);
  }

  const { load } = await run('load.js', 'export const load = (specifier, options) => import(specifier, options);\n');
  return { folder, run, load, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
