import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const checkout = env.SVC_CHECKOUT ?? '';
const { siblingRange } = await import(pathToFileURL(join(checkout, 'tools/release/release.mjs')).href);
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const suite = fileURLToPath(new URL('..', import.meta.url));
const { devDependencies: tested } = read(join(suite, 'package.json'));
const workspace = new Map(
  readdirSync(join(checkout, 'packages')).map((name) => {
    const { name: published, version } = read(join(checkout, 'packages', name, 'package.json'));
    return [published, version];
  }),
);

/** Programs that the suite does not have. It has the parts that they run. */
const NOT_RUN = { wrangler: ['esbuild', 'miniflare'] };

for (const kind of ['hosts', 'receivers']) {
  for (const name of readdirSync(join(checkout, 'examples', kind))) {
    test(`examples/${kind}/${name} depends on the versions that are tested`, () => {
      const { dependencies, devDependencies } = read(join(checkout, 'examples', kind, name, 'package.json'));
      for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies })) {
        if (dependency in NOT_RUN) {
          for (const part of NOT_RUN[dependency]) assert.ok(part in tested, `${part} of ${dependency}`);
        } else if (workspace.has(dependency)) {
          assert.equal(version, siblingRange(workspace.get(dependency)), dependency);
        } else {
          assert.equal(version, tested[dependency], dependency);
        }
      }
    });
  }
}
