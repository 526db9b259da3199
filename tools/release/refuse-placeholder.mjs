/**
 * Fails when the address of the repository is still the placeholder, or when the version was never released: the script
 * `prepublishOnly` of every package. A registry on this machine takes both, so that a release can be rehearsed.
 */
import { cwd, env, exit } from 'node:process';
import { addressProblem } from './release.mjs';
import { readManifest } from './workspaces.mjs';

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

const { name, version, repository } = readManifest(cwd(), '.');
const registry = URL.canParse(env.npm_config_registry ?? '') ? new URL(env.npm_config_registry).hostname : undefined;
const problems = [
  addressProblem(repository),
  version === '0.0.0' ? 'version: is 0.0.0, which is never released. Run `npm run release:version`.' : undefined,
].filter((problem) => problem !== undefined);
if (problems.length > 0 && !LOOPBACK.includes(registry)) {
  for (const problem of problems) console.error(`${name}: ${problem}`);
  exit(1);
}
