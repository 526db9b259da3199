/** Prints `docs/version-axes.md`: `node packages/versioning/test/axes-table.ts > docs/version-axes.md`. */
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
    'The protocol has eighteen version axes. No two axes are comparable with each other.',
    '`@svc/versioning/axes` holds this table as data, with the grammar and the order of each axis.',
    'This page is generated from it.',
    '',
    '| # | Axis | Form | Ordered | In major 2 |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(axesTable());
