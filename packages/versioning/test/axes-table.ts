/** The table of `docs/version-axes.md`, from the code: `node packages/versioning/test/axes-table.ts > docs/version-axes.md`. */
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { AXES } from '../src/axes/index.ts';

export function axesTable(): string {
  const rows = AXES.map(({ number, name, form, rule, retired, compare }) => {
    const ordered = retired ? '' : compare === undefined ? 'no' : 'yes';
    return `| ${number} | ${name} | ${retired ? '(retired)' : form.replaceAll('|', '\\|')} | ${ordered} | ${rule} |`;
  });
  return [
    '# Version axes',
    '',
    'Eighteen things have versions of their own. No two axes are comparable with each other. `@svc/versioning/axes` holds this table as data,',
    'with a parser and a comparison for each; this page is made from it.',
    '',
    '| # | Axis | Form | Ordered | In major 2 |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(axesTable());
