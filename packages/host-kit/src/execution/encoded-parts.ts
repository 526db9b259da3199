import { SHORTEST_SECRET } from './secret-patterns.ts';
import {
  base64BytesView,
  base64View,
  hexBytesView,
  hexView,
  partOf,
  type TextView,
  withoutNulView,
} from './text-view.ts';

/**
 * Decodes the parts of a text that may be base64 or hexadecimal, wherever their bytes begin, and yields the parts of the
 * result that are text. Bytes that are no text have no secret, because secrets are printable ASCII.
 *
 * @param spend is told the number of characters that are decoded next. False: nothing more is decoded
 */
export function* encodedParts(view: TextView, spend: (characters: number) => boolean): Generator<TextView, undefined> {
  for (const { run, groups, bytesOf } of runsIn(view)) {
    for (let begin = 0; begin < groups; begin++) {
      if (!spend(run.text.length)) return;
      yield* textsIn(bytesOf(partOf(run, begin, run.text.length)));
    }
  }
}

interface Run {
  readonly run: TextView;
  /** The number of places in a group of characters at which a byte may begin. */
  readonly groups: number;
  readonly bytesOf: (view: TextView) => TextView;
}

function* runsIn(view: TextView): Generator<Run, undefined> {
  const base64 = base64View(view);
  for (const run of matches(base64, BASE64)) yield { run, groups: 4, bytesOf: base64BytesView };
  // Nearly no text has so many digits in a row, and the view of one that has them is dear.
  if (!MAYBE_HEXADECIMAL.test(view.text)) return;
  const hex = hexView(view);
  for (const run of matches(hex, HEXADECIMAL)) yield { run, groups: 2, bytesOf: hexBytesView };
}

/** The parts that are text in ASCII or in UTF-16. */
function* textsIn(bytes: TextView): Generator<TextView, undefined> {
  yield* matches(bytes, TEXT);
  for (const wide of matches(bytes, WIDE_TEXT)) yield withoutNulView(wide);
}

function* matches(view: TextView, pattern: RegExp): Generator<TextView, undefined> {
  for (const { 0: match, index } of view.text.matchAll(pattern)) yield partOf(view, index, index + match.length);
}

const BASE64 = new RegExp(`[A-Za-z0-9+/]{${Math.ceil((SHORTEST_SECRET * 8) / 6)},}`, 'g');
const HEXADECIMAL = new RegExp(`[0-9a-f]{${SHORTEST_SECRET * 2},}`, 'g');
/** Digits with the separators that the view leaves out. It is read in linear time. */
const MAYBE_HEXADECIMAL = new RegExp(`(?:[0-9a-f](?:0x|\\\\x|[\\s:,;-])*){${SHORTEST_SECRET * 2}}`, 'i');
const TEXT = new RegExp(`[\\t\\n\\r -~]{${SHORTEST_SECRET},}`, 'g');
/** Of either byte order: in one of them, the last character has no byte after it. */
const WIDE_TEXT = new RegExp(`(?:[ -~]\\0){${SHORTEST_SECRET - 1},}[ -~]`, 'g');
