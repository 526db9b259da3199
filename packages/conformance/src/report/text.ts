import type { RuleSource } from '../rule.ts';
import type { Report } from './report.ts';
import type { Result } from './result.ts';

/** Options of `textReport`. */
export interface TextOptions {
  /** Adds ANSI colours, for a terminal. */
  readonly colours: boolean;
  /** Leaves out the checks that passed or were skipped. Default: false. */
  readonly failuresOnly?: boolean;
}

type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

const CODES: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
};

const SIGNS: Readonly<Record<Result['outcome'], readonly [sign: string, colour: Colour]>> = {
  passed: ['✓', 'green'],
  failed: ['✗', 'red'],
  warned: ['!', 'yellow'],
  skipped: ['–', 'dim'],
};

/**
 * Formats a report as a table for people: grouped by area, one line for each check, one column for each major. Control
 * characters in text from the host are escaped.
 *
 * @example
 * import { runConformance, textReport } from '@svc/conformance';
 *
 * const report = await runConformance({ url: 'http://127.0.0.1:8787' });
 * process.stdout.write(textReport(report, { colours: process.stdout.isTTY }));
 */
export function textReport(report: Report, options: TextOptions): string {
  const paint = painter(options);
  const { host, summary, durationMs } = report;
  const results = options.failuresOnly === true ? report.results.filter(isFailure) : report.results;
  const name = [host.name, host.version].filter((part) => part !== undefined).join(' ');
  const versions = `versions ${host.protocolVersions.join(' and ') || 'unknown'}`;
  const head = [report.url, name, versions].filter((part) => part !== '').join(', ');
  const lines = [printable(head), ''];
  for (const [area, ofArea] of grouped(results, ({ area }) => area)) {
    lines.push(paint('bold', area));
    for (const [, ofCheck] of grouped(ofArea, ({ id }) => id)) lines.push(...rowOf(ofCheck, paint));
    lines.push('');
  }
  const { passed, failed, warned, skipped } = summary;
  const seconds = (durationMs / 1000).toFixed(1);
  const verdict = `${passed} passed, ${failed} failed, ${warned} warned, ${skipped} skipped, in ${seconds} s`;
  lines.push(...missingIn(report, paint), paint('dim', coverageIn(report)));
  lines.push(paint(failed > 0 ? 'red' : 'green', verdict));
  // At the end of 300 lines, the names of the failed checks are what a reader looks for.
  for (const { id, major, rule } of report.results.filter(({ outcome }) => outcome === 'failed'))
    lines.push(paint('red', `  ✗ ${id} (major ${major}), ${SOURCES[rule.source]}`));
  return [...lines, ''].join('\n');
}

/** The words for the source of a rule. */
const SOURCES: Readonly<Record<RuleSource, string>> = {
  interface: 'interface',
  ruling: 'ruling',
  fact: 'fact of other hosts',
  own: 'promise of this project',
};

/** Says in one line which part of the suite ran. */
function coverageIn({ coverage: { checks, requirements, sources } }: Report): string {
  const bySource = Object.entries(sources).map(([source, { ran, of }]) => `${source} ${ran} of ${of}`);
  return `Looked at ${checks.ran} of ${checks.of} checks and ${requirements.ran} of ${requirements.of} requirements: ${bySource.join(', ')}.`;
}

function isFailure({ outcome }: Result): boolean {
  return outcome === 'failed' || outcome === 'warned';
}

/** Returns the requirements that were not met, one line for each reason. */
function missingIn({ missing }: Report, paint: Painter): readonly string[] {
  if (missing.length === 0) return [];
  const lines = [...grouped(missing, ({ profile = '', reason }) => `${profile} ${reason}`).values()].flatMap(
    (group) => {
      const [first] = group;
      if (first === undefined) return [];
      const names = [...new Set(group.flatMap(({ id }) => (id === undefined ? [] : [id])))];
      const checks = names.length === 0 ? '' : `: ${names.length} ${names.length === 1 ? 'check' : 'checks'}`;
      const profile = first.profile === undefined ? '' : `profile ${first.profile}, `;
      return [paint('yellow', printable(`  ${profile}${first.reason}${checks}`))];
    },
  );
  return [paint('yellow', 'Looked at less than required:'), ...lines, ''];
}

type Painter = (colour: Colour, text: string) => string;

function painter({ colours }: TextOptions): Painter {
  return (colour, text) => {
    const [on, off] = CODES[colour];
    return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  };
}

function rowOf(results: readonly Result[], paint: Painter): readonly string[] {
  const columns = ([1, 2] as const).map((major) => {
    const result = results.find((one) => one.major === major);
    if (result === undefined) return ' ';
    const [sign, colour] = SIGNS[result.outcome];
    return paint(colour, sign);
  });
  const [first, second] = results;
  if (first === undefined) return [];
  const isSkipped = results.every(({ outcome }) => outcome === 'skipped');
  if (isSkipped && (second === undefined || second.reason === first.reason)) {
    return [`  ${columns.join(' ')}  ${paint('dim', printable(`${first.id}  skipped: ${first.reason}`))}`];
  }
  return [`  ${columns.join(' ')}  ${first.id}  ${first.name}`, ...notesOf(results, paint)];
}

/** Returns the reasons and failures of a check. Equal notes of both majors are printed once. */
function notesOf(results: readonly Result[], paint: Painter): readonly string[] {
  const notes = results.map((result) => ({ major: result.major, lines: noteOf(result) }));
  const [one, other] = notes;
  if (one !== undefined && other !== undefined && one.lines.join('\n') === other.lines.join('\n')) {
    return indented(one.lines, '', paint);
  }
  return notes.flatMap(({ major, lines }) => indented(lines, `major ${major}: `, paint));
}

function noteOf({ reason, failure, rule }: Result): readonly string[] {
  if (reason !== undefined) return [`skipped: ${reason}`];
  if (failure === undefined) return [];
  const { expected, seen, curl } = failure;
  const { section, source, requirement } = rule;
  const from = [`${section} (${SOURCES[source]})`, ...(requirement === undefined ? [] : [requirement])].join(', ');
  return [
    `expected ${expected}`,
    `seen     ${seen}`,
    `rule     ${from}`,
    ...(curl === undefined ? [] : [`         ${curl}`]),
  ];
}

function indented(lines: readonly string[], label: string, paint: Painter): readonly string[] {
  return lines.map((line, at) =>
    paint('dim', `        ${at === 0 ? label : ' '.repeat(label.length)}${printable(line)}`),
  );
}

function grouped<Item>(items: readonly Item[], by: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
  return groups;
}

/** Escapes control and format characters, so that text from the host cannot send commands to the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
