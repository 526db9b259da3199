/**
 * Builds the site from the Markdown files of the checkout and from the docstrings: `npm run docs`. `--base=/svc/` is for a site that is not at
 * the root of its host; `--serve` serves the built site on this machine.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, resolveConfig, serve } from 'vitepress';
import { checkBuilt, checkListed } from './check-built.mjs';
import { writeLlms } from './llms.mjs';
import { ROOT } from './model.mjs';
import { sectionsOf } from './pages.mjs';
import { writeReference } from './reference.mjs';
import { stage } from './stage.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** The pages that the generator reads. */
const PAGES = join(HERE, '.cache/pages');
const OUTPUT = join(HERE, 'dist');

async function main() {
  const options = { base: { type: 'string', default: '/' }, serve: { type: 'boolean', default: false } };
  const { base, serve: isServed } = parseArgs({ args: argv.slice(2), options }).values;
  const problems = await writeReference();
  problems.push(...stage(ROOT, PAGES));
  if (problems.length === 0) {
    rmSync(OUTPUT, { recursive: true, force: true });
    await build(HERE, { base, outDir: OUTPUT });
    const { title, description } = (await resolveConfig(HERE, 'build')).site;
    const navigation = JSON.parse(readFileSync(join(HERE, 'navigation.json'), 'utf8'));
    writeLlms(ROOT, PAGES, OUTPUT, { base, title, description, sections: sectionsOf(ROOT, navigation) });
    problems.push(...checkBuilt(OUTPUT, base), ...checkListed(OUTPUT, base));
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
  console.log(`The site is in ${relative(ROOT, OUTPUT)}.`);
  if (isServed) await serve({ root: HERE, base });
}

await main().catch((error) => {
  console.error(error.message);
  exit(1);
});
