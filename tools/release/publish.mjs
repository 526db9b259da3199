/**
 * Publishes what `npm run release:pack` made: `node tools/release/publish.mjs release`. A package that the registry
 * already has is left out, so that an interrupted release can be started again. In GitHub Actions npm authenticates by
 * OpenID Connect and adds the provenance. Needs npm 11.5.1 and no installed dependency.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, env, exit, platform } from 'node:process';

const folder = argv[2] ?? 'release';
const { version, distTag, packages } = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'));
for (const { name, tarball, integrity } of packages) {
  const content = readFileSync(join(folder, tarball));
  if (`sha512-${createHash('sha512').update(content).digest('base64')}` !== integrity) {
    fail(`${tarball}: differs from release.json. Pack the release again.`);
  }
  const published = publishedIntegrity(`${name}@${version}`);
  if (published === integrity) {
    console.log(`${name} ${version} is published already.`);
    continue;
  }
  if (published !== undefined) fail(`${name} ${version}: is published with other content. Release another version.`);
  const provenance = env.GITHUB_ACTIONS === 'true' ? ['--provenance'] : [];
  const { status } = npm(
    ['publish', resolve(folder, tarball), '--access', 'public', '--tag', distTag, ...provenance],
    'inherit',
  );
  if (status !== 0) fail(`${name} ${version}: could not be published. Start the release again; it continues here.`);
}

/** Asks the registry for the hash of a version. Returns undefined for a version that it does not have. */
function publishedIntegrity(spec) {
  const { status, stdout, stderr } = npm(['view', spec, 'dist.integrity', '--json'], 'pipe');
  if (status === 0) return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  if (/E404/.test(stdout + stderr)) return undefined;
  return fail(`The registry does not answer about ${spec}:\n${stderr}`);
}

function npm(args, output) {
  return spawnSync('npm', args, { encoding: 'utf8', stdio: ['ignore', output, output], shell: platform === 'win32' });
}

function fail(message) {
  console.error(message);
  exit(1);
}
