// The packed packages with the programs of the suite, and a real PostgreSQL.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const { SVC_TARBALLS: tarballs = '', SVC_CHECKOUT: checkout = '' } = env;
if (tarballs === '' || checkout === '') throw new Error('Run npm run suites -- engines in the checkout.');
const { unpackAll } = await import(pathToFileURL(join(checkout, 'tools/package-consumer.mjs')).href);
export const { startPostgres } = await import(pathToFileURL(join(checkout, 'tools/postgres.ts')).href);

const suite = fileURLToPath(new URL('..', import.meta.url));

/**
 * Unpacks the packages into a folder of the suite, with its programs and the workflows of the contract.
 *
 * @param {string} name of the folder, one for each test file
 */
export async function workspace(name) {
  const folder = join(suite, '.projects', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await unpackAll(tarballs, folder);
  cpSync(join(suite, 'programs'), folder, { recursive: true });
  cpSync(join(checkout, 'packages/host-kit/test/engine/contract-of-steps.ts'), join(folder, 'contract-of-steps.ts'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, 'load.mjs'), 'export const load = (specifier) => import(specifier);\n');
  const { load } = await import(pathToFileURL(join(folder, 'load.mjs')).href);
  return { folder, load };
}
