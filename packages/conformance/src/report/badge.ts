import type { Report } from './report.ts';

/**
 * Makes a badge of a report as SVG: the profiles of a host that conforms, `failing` when a check failed, or `incomplete` when the run looked
 * at less than its profiles require.
 *
 * @example
 * import { writeFileSync } from 'node:fs';
 * import { badgeReport, runConformance } from '@svc/conformance';
 *
 * writeFileSync('conformance.svg', badgeReport(await runConformance({ url: 'http://127.0.0.1:8787' })));
 */
export function badgeReport(report: Pick<Report, 'summary' | 'missing' | 'profiles' | 'suiteVersion'>): string {
  const [words, colour] = stateOf(report);
  const [left, right] = [widthOf(LABEL), widthOf(words)];
  const title = `${LABEL}: ${words}, suite ${report.suiteVersion.replace(/[^\w.+-]/g, '')}`;
  const text = (x: number, content: string) => `<text x="${x}" y="14" text-anchor="middle">${content}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/>`,
    '<g fill="#fff" font-family="Verdana,sans-serif" font-size="11">',
    text(left / 2, LABEL) + text(left + right / 2, words),
    '</g></svg>',
    '',
  ].join('\n');
}

const LABEL = 'svc conformance';

function stateOf({
  summary,
  missing,
  profiles,
}: Pick<Report, 'summary' | 'missing' | 'profiles'>): readonly [string, string] {
  if (summary.failed > 0) return ['failing', '#a40000'];
  if (missing.length > 0 || profiles.length === 0 || summary.passed === 0) return ['incomplete', '#7a5200'];
  return [profiles.join(', '), '#00601f'];
}

/** The fonts of readers differ, so this is an estimate for the widest. */
function widthOf(text: string): number {
  return Math.ceil(text.length * 6.8) + 12;
}
