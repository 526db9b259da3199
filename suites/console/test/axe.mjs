import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The source of axe. A page evaluates it before its violations are asked for. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns what axe finds on a page, by all of its rules for the levels A and AA and its own advice. */
export const violationsOf = (page) => violations(page, { type: 'tag', values: TAGS });

/** Returns what axe finds on a page whose rules have been checked in other colours. */
export const violationsOfColours = (page) => violations(page, { type: 'rule', values: OF_COLOURS });

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

async function violations(page, runOnly) {
  const found = await page.evaluate(async (only) => {
    // Neither selectors nor what passes is looked at here; both take axe long on a large page.
    const options = { runOnly: only, resultTypes: ['violations'], selectors: false };
    return (await window.axe.run(document, options)).violations;
  }, runOnly);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
