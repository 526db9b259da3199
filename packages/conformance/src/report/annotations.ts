import type { Report } from './report.ts';

/**
 * Formats the failures and warnings of a report as workflow commands of GitHub Actions, which shows them as annotations.
 *
 * @example
 * import { annotationsReport, runConformance } from '@svc/conformance';
 *
 * process.stdout.write(annotationsReport(await runConformance({ url: 'http://127.0.0.1:8787' })));
 */
export function annotationsReport({ results, missing }: Pick<Report, 'results' | 'missing'>): string {
  const lines = results.flatMap(({ id, major, outcome, failure }) => {
    if (failure === undefined) return [];
    const command = outcome === 'warned' ? 'warning' : 'error';
    const text = `expected ${failure.expected}\nseen ${failure.seen}`;
    return [`::${command} title=${property(`${id} (major ${major})`)}::${data(text)}`];
  });
  const [first] = missing;
  if (first !== undefined) {
    const text = `${missing.length} requirements of the run are not met, the first: ${first.reason}`;
    lines.push(`::error title=Looked at less than required::${data(text)}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
