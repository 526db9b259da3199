import type { Report } from './report.ts';
import type { Result } from './result.ts';

/**
 * Formats a report as JUnit XML: one `testsuite` for each area, one `testcase` for each check and major. A warning is
 * written to the `system-out` of its case, which passes.
 *
 * @example
 * import { writeFileSync } from 'node:fs';
 * import { junitReport, runConformance } from '@svc/conformance';
 *
 * writeFileSync('conformance.xml', junitReport(await runConformance({ url: 'http://127.0.0.1:8787' })));
 */
export function junitReport({ url, startedAt, durationMs, results }: Report): string {
  const areas = [...new Set(results.map(({ area }) => area))];
  const time = `time="${seconds(durationMs)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="svc-conformance ${escaped(url)}" ${countsOf(results)} ${time} timestamp="${startedAt}">`,
    ...areas.map((area) =>
      suiteOf(
        area,
        results.filter((result) => result.area === area),
      ),
    ),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteOf(area: string, results: readonly Result[]): string {
  const took = results.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    `  <testsuite name="${escaped(area)}" ${countsOf(results)} time="${seconds(took)}">`,
    ...results.map(caseOf),
    '  </testsuite>',
  ].join('\n');
}

function caseOf(result: Result): string {
  const { id, major, area, durationMs } = result;
  // Without the sentence of the check: a change of words must not begin a new history in a CI system.
  const title = escaped(`${id} (major ${major})`);
  const head = `    <testcase classname="${escaped(area)}" name="${title}" time="${seconds(durationMs)}"`;
  const inside = insideOf(result);
  return inside === undefined ? `${head}/>` : `${head}>${inside}</testcase>`;
}

function insideOf({ outcome, reason, failure, rule, name }: Result): string | undefined {
  if (outcome === 'skipped') return `<skipped message="${escaped(reason ?? '')}"/>`;
  if (failure === undefined) return undefined;
  const text = [
    name,
    `expected ${failure.expected}`,
    `seen ${failure.seen}`,
    `rule: ${rule.section} (${rule.source})`,
    failure.curl,
  ]
    .filter((line) => line !== undefined)
    .join('\n');
  if (outcome === 'warned') return `<system-out>${escaped(`warning\n${text}`)}</system-out>`;
  return `<failure type="mismatch" message="${escaped(`expected ${failure.expected}`)}">${escaped(text)}</failure>`;
}

function countsOf(results: readonly Result[]): string {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return `tests="${results.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}"`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Escapes text for XML. Characters that XML 1.0 forbids, even as references, become U+FFFD. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
