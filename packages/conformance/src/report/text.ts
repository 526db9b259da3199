import type { Report, Result } from './report.ts';

/** Options of `textReport`. */
export interface TextOptions {
  /** Adds ANSI colours, for a terminal. */
  readonly colours: boolean;
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
  const { host, results, summary, durationMs } = report;
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
  return [...lines, paint(failed > 0 ? 'red' : 'green', verdict), ''].join('\n');
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

function noteOf({ reason, failure }: Result): readonly string[] {
  if (reason !== undefined) return [`skipped: ${reason}`];
  if (failure === undefined) return [];
  const { expected, seen, curl } = failure;
  return [`expected ${expected}`, `seen     ${seen}`, ...(curl === undefined ? [] : [`         ${curl}`])];
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
