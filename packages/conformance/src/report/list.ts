import { areaOf, type Check } from '../check.ts';

/** The checks as lines: id, majors, name. */
export function listOf(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  return checks.map(({ id, majors, name }) => `${id.padEnd(width)}  ${majorsText(majors)}  ${name}\n`).join('');
}

/** The checks as tables of Markdown, one for each area. */
export function markdownOf(checks: readonly Check[]): string {
  const areas = [...new Set(checks.map(areaOf))];
  return areas
    .map((area) => {
      const rows = checks.filter((check) => areaOf(check) === area).map(rowOf);
      return [
        `### ${area}`,
        '',
        '| Check | Major | A host that keeps the rule | Rule |',
        '|---|---|---|---|',
        ...rows,
        '',
      ].join('\n');
    })
    .join('\n');
}

function rowOf({ id, majors, name, level, rule }: Check): string {
  const must = level === 'SHOULD' ? ' *(SHOULD)*' : '';
  return `| \`${id}\` | ${majors.join(', ')} | ${cell(name)}${must} | ${cell(rule.section)} |`;
}

function majorsText(majors: readonly number[]): string {
  return majors.length === 2 ? '1 2' : majors.includes(1) ? '1  ' : '  2';
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('~', '\\~');
}
