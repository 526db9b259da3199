import { areaOf, type RunnableCheck } from '../check.ts';

/** Formats checks as lines: id, majors, name. */
export function listOf(checks: readonly RunnableCheck[]): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  return checks.map(({ id, majors, name }) => `${id.padEnd(width)}  ${majorsText(majors)}  ${name}\n`).join('');
}

/** Formats checks as Markdown, one table for each area. */
export function markdownOf(checks: readonly RunnableCheck[]): string {
  const areas = [...new Set(checks.map(areaOf))];
  return areas
    .map((area) => {
      const rows = checks.filter((check) => areaOf(check) === area).map(rowOf);
      return [
        `### ${area}`,
        '',
        '| Check | Major | Behaviour of a conforming host | Section of the interface | Source |',
        '|---|---|---|---|---|',
        ...rows,
        '',
      ].join('\n');
    })
    .join('\n');
}

function rowOf({ id, majors, name, level, rule }: RunnableCheck): string {
  const must = level === 'SHOULD' ? ' *(SHOULD)*' : '';
  return `| \`${id}\` | ${majors.join(', ')} | ${cell(name)}${must} | ${cell(rule.section)} | ${rule.source} |`;
}

function majorsText(majors: readonly number[]): string {
  return majors.length === 2 ? '1 2' : majors.includes(1) ? '1  ' : '  2';
}

/** Escapes text for a cell of a table. In a code span, only the column separator is escaped. */
function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('~', '\\~')))
    .join('');
}
