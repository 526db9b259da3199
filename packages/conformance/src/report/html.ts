import type { Report } from './report.ts';
import type { Result } from './result.ts';

/**
 * Formats a report as one page of HTML, without scripts and without references to other files. Text from the host is escaped.
 *
 * @example
 * import { writeFileSync } from 'node:fs';
 * import { htmlReport, runConformance } from '@svc/conformance';
 *
 * writeFileSync('conformance.html', htmlReport(await runConformance({ url: 'http://127.0.0.1:8787' })));
 */
export function htmlReport(report: Report): string {
  const { url, host, startedAt, durationMs, suiteVersion, summary, missing, results } = report;
  const failures = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warned');
  const areas = [...new Set(results.map(({ area }) => area))];
  const name = [host.name, host.version].filter((part) => part !== undefined).join(' ');
  const counts = `${summary.passed} passed, ${summary.failed} failed, ${summary.warned} warned, ${summary.skipped} skipped`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    // A page that shows text of a foreign host loads nothing and runs nothing.
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width">',
    `<title>Conformance of ${escaped(url)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    `<h1>Conformance of ${escaped(url)}</h1>`,
    `<p>${escaped(name === '' ? 'a host without a name' : name)}, versions ${escaped(host.protocolVersions.join(', ') || 'unknown')}.
<time>${escaped(startedAt)}</time>, ${(durationMs / 1000).toFixed(1)} s, suite ${escaped(suiteVersion)}.</p>`,
    `<p class="${summary.failed > 0 ? 'failed' : 'passed'}"><strong>${counts}</strong></p>`,
    ...missingOf(missing),
    '<h2>Coverage</h2>',
    coverageTable(report),
    ...(failures.length === 0 ? [] : ['<h2>Failures and warnings</h2>', ...failures.map(failureOf)]),
    '<h2>Checks</h2>',
    ...areas.map((area) =>
      areaOf(
        area,
        results.filter((result) => result.area === area),
      ),
    ),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1d1d1f;background:#fff}
table{border-collapse:collapse}td,th{border-bottom:1px solid #ddd;padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}
code,pre{font:13px ui-monospace,monospace}pre{background:#f4f4f5;padding:.6rem;overflow:auto;white-space:pre-wrap}
.failed{color:#a40000}.warned{color:#7a5200}.passed{color:#00601f}.skipped{color:#5a5a5e}`;

const WORDS: Readonly<Record<Result['outcome'], string>> = {
  passed: 'passed',
  failed: 'failed',
  warned: 'warning',
  skipped: 'skipped',
};

function missingOf(missing: Report['missing']): readonly string[] {
  if (missing.length === 0) return [];
  const items = missing.map(({ profile, id, major, reason }) => {
    const what = [profile, id, major === undefined ? undefined : `major ${major}`].filter((one) => one !== undefined);
    return `<li>${escaped([...what, reason].join(': '))}</li>`;
  });
  return ['<h2 class="warned">Looked at less than required</h2>', `<ul>${items.join('')}</ul>`];
}

function coverageTable({ coverage: { checks, requirements, sources } }: Report): string {
  const row = (name: string, { ran, of }: { readonly ran: number; readonly of: number }, more = '') =>
    `<tr><th scope="row">${name}</th><td>${ran} of ${of}</td><td>${more}</td></tr>`;
  return [
    '<table>',
    row('Checks', checks),
    row('Requirements', requirements),
    ...Object.entries(sources).map(([source, share]) =>
      row(`Rules, source ${source}`, share, `${share.failed} failed, ${share.warned} warned`),
    ),
    '</table>',
  ].join('\n');
}

function failureOf({ id, major, name, rule, outcome, failure }: Result): string {
  const { expected = '', seen = '', curl } = failure ?? {};
  const requirement = rule.requirement === undefined ? '' : `, <code>${escaped(rule.requirement)}</code>`;
  return [
    `<h3 class="${outcome}">${escaped(id)}, major ${major}</h3>`,
    `<p>${escaped(name)}<br>${escaped(rule.section)} (${rule.source})${requirement}</p>`,
    `<pre>expected ${escaped(expected)}\nseen     ${escaped(seen)}${curl === undefined ? '' : `\n\n${escaped(curl)}`}</pre>`,
  ].join('\n');
}

function areaOf(area: string, results: readonly Result[]): string {
  const rows = results.map(({ id, major, name, rule, outcome, reason }) => {
    const why = reason === undefined ? '' : `: ${escaped(reason)}`;
    return `<tr><td><code>${escaped(id)}</code></td><td>${major}</td><td>${escaped(name)}</td><td>${rule.source}</td><td class="${outcome}">${WORDS[outcome]}${why}</td></tr>`;
  });
  const open = results.some(({ outcome }) => outcome === 'failed') ? ' open' : '';
  return [
    `<details${open}><summary>${escaped(area)} (${results.length})</summary><table>`,
    '<tr><th>Check</th><th>Major</th><th>Behaviour</th><th>Source</th><th>Result</th></tr>',
    ...rows,
    '</table></details>',
  ].join('\n');
}

/** Escapes text for HTML. Control characters and characters that reverse the direction of text are shown by their number. */
function escaped(text: string): string {
  return text
    .replace(/[^\P{C}\n\t]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
