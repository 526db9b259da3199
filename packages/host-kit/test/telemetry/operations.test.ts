import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { METRICS, type Metric } from '../../src/telemetry/metrics.ts';

const PAGE = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');

/** Returns the cells of each row of the table with the given head. */
function tableUnder(head: string): readonly (readonly string[])[] {
  const [, after = ''] = PAGE.split(`${head}\n`);
  const lines = after.split('\n').slice(1);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('docs/operations.md', () => {
  test('lists every metric as METRICS defines it', () => {
    const rows = Object.values<Metric>(METRICS).map(({ name, kind, unit, attributes, description }) => [
      `\`${name}\``,
      kind,
      `\`${unit}\``,
      attributes.map((attribute) => `\`${attribute}\``).join(', '),
      description,
    ]);
    expect(tableUnder('| Metric | Kind | Unit | Attributes | |')).toEqual(rows);
  });

  test('lists the values of every attribute that begins with svc.', () => {
    const told = tableUnder('| Attribute | Values |').flatMap(([names = '']) => names.split(', '));
    const own = Object.values<Metric>(METRICS).flatMap(({ attributes }) =>
      attributes.filter((name) => name.startsWith('svc.')),
    );
    expect(told.filter((name) => name !== '`http.route`').sort()).toEqual(
      [...new Set(own)].map((name) => `\`${name}\``).sort(),
    );
  });
});
