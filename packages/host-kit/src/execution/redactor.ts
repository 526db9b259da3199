import type { Json } from '../json.ts';
import { occurrences } from './occurrences.ts';
import { type Base64Pattern, type SecretPatterns, type SHORTEST_SECRET, secretPatterns } from './secret-patterns.ts';
import { base64View, decodedView, hexView, lowerCaseView, plainView, type TextView } from './text-view.ts';

/**
 * Replaces the values of secrets in JSON by `[REDACTED:<name>]`: in strings, numbers and names of members, in usual
 * encodings, and split over several of them. Costs nothing before the first secret, then time linear in the JSON.
 */
export class Redactor {
  /** The patterns of each known value, by a key of name and value. */
  readonly #known = new Map<string, { readonly name: string; readonly patterns: SecretPatterns }>();

  /** @param value at least {@link SHORTEST_SECRET} printable ASCII characters */
  add(name: string, value: string): void {
    const key = JSON.stringify([name, value]);
    if (!this.#known.has(key)) this.#known.set(key, { name, patterns: secretPatterns(value) });
  }

  /**
   * Returns the value without the secrets. If a secret is known, the value is returned as JSON has it.
   *
   * @throws {TypeError} for a value that JSON cannot represent, if a secret is known
   */
  redacted<T>(value: T): T {
    if (this.#known.size === 0) return value;
    const text = JSON.stringify(value);
    if (text === undefined) return value;
    const json: Json = JSON.parse(text);
    const pieces = piecesOf(json);
    for (const sequence of sequencesOf(pieces)) this.#mark(sequence);
    // The redacted JSON has the type of the value, except where a secret was: its readers check it.
    return rebuilt(json, pieces.values()) as T;
  }

  #mark(sequence: Sequence): void {
    let view = plainView(sequence.text);
    for (let level = 0; level <= MOST_LEVELS; level++) {
      const views = { plain: lowerCaseView(view), base64: base64View(view), hex: hexView(view) };
      for (const { name, patterns } of this.#known.values()) {
        for (const text of patterns.plain) markIn(sequence, views.plain, { ...WHOLE, text }, name);
        for (const text of patterns.hex) markIn(sequence, views.hex, { ...WHOLE, text }, name);
        for (const pattern of patterns.base64) markIn(sequence, views.base64, pattern, name);
      }
      const next = decodedView(view);
      if (next === view) return;
      view = next;
    }
  }
}

const WHOLE = { isCutBefore: false, isCutAfter: false };
/** An encoded text can itself be encoded. Deeper levels are not decoded. */
const MOST_LEVELS = 4;

/** A string, a number or the name of a member. */
interface Piece {
  readonly kind: 'name' | 'string' | 'number';
  readonly text: string;
  /** The parts to redact. */
  readonly marks: Mark[];
}

interface Mark {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** Pieces as one text, so that a secret that is split over several of them is found. */
interface Sequence {
  readonly text: string;
  readonly pieces: readonly Piece[];
  /** The begin of each piece in `text`. */
  readonly starts: readonly number[];
}

function piecesOf(json: Json, pieces: Piece[] = []): Piece[] {
  if (typeof json === 'string') pieces.push({ kind: 'string', text: json, marks: [] });
  else if (typeof json === 'number') pieces.push({ kind: 'number', text: String(json), marks: [] });
  else if (Array.isArray(json)) for (const item of json) piecesOf(item, pieces);
  else if (typeof json === 'object' && json !== null) {
    for (const [name, member = null] of Object.entries(json)) {
      pieces.push({ kind: 'name', text: name, marks: [] });
      piecesOf(member, pieces);
    }
  }
  return pieces;
}

/** All pieces, the names, the values, and the numbers as the bytes of a text. */
function sequencesOf(pieces: readonly Piece[]): Sequence[] {
  const names = pieces.filter(({ kind }) => kind === 'name');
  const values = pieces.filter(({ kind }) => kind !== 'name');
  const numbers = pieces.filter(({ kind }) => kind === 'number');
  return [
    sequenceOf(pieces),
    ...(names.length > 0 ? [sequenceOf(names), sequenceOf(values)] : []),
    ...(numbers.length > 0 ? [sequenceOf(numbers, characterOf)] : []),
  ];
}

function sequenceOf(pieces: readonly Piece[], textOf = ({ text }: Piece): string => text): Sequence {
  const starts: number[] = [];
  const texts: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    const text = textOf(piece);
    starts.push(length);
    texts.push(text);
    length += text.length;
  }
  return { text: texts.join(''), pieces, starts };
}

/** Reads a number as a byte, because JSON has the bytes of a buffer as numbers. */
function characterOf({ text }: Piece): string {
  const code = Number(text);
  return Number.isInteger(code) && code > 0 && code < 128 ? String.fromCharCode(code) : '\ufffd';
}

function markIn(sequence: Sequence, view: TextView, pattern: Base64Pattern, name: string): void {
  for (const index of occurrences(view.text, pattern.text)) {
    const end = index + pattern.text.length;
    const first = pattern.isCutBefore && index > 0 ? index - 1 : index;
    const last = pattern.isCutAfter && end < view.text.length ? end : end - 1;
    const from = view.from(first);
    const to = view.to(last);
    for (let place = pieceAt(sequence, from); place < sequence.pieces.length; place++) {
      const start = sequence.starts[place] ?? 0;
      if (start >= to) break;
      const next = sequence.starts[place + 1] ?? sequence.text.length;
      const mark = { from: Math.max(from - start, 0), to: Math.min(to, next) - start, name };
      if (mark.from < mark.to) sequence.pieces[place]?.marks.push(mark);
    }
  }
}

/** Finds the last piece that begins at or before a place of the text. */
function pieceAt({ starts }: Sequence, place: number): number {
  let low = 0;
  for (let high = starts.length - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** @param pieces those of `json`, in order */
function rebuilt(json: Json, pieces: Iterator<Piece>): Json {
  if (typeof json === 'string') return redactedText(pieces.next().value, json);
  if (typeof json === 'number') {
    const piece: Piece | undefined = pieces.next().value;
    return piece === undefined || piece.marks.length === 0 ? json : markerOf(piece.marks);
  }
  if (Array.isArray(json)) return json.map((item) => rebuilt(item, pieces));
  if (typeof json !== 'object' || json === null) return json;
  const members = new Map<string, Json>();
  const counts = new Map<string, number>();
  for (const [name, member = null] of Object.entries(json)) {
    const shown = redactedText(pieces.next().value, name);
    let free = shown;
    // Counted on from the last name, because thousands of names can be shown alike.
    let count = counts.get(shown) ?? 1;
    while (members.has(free)) free = `${shown}#${++count}`;
    counts.set(shown, count);
    members.set(free, rebuilt(member, pieces));
  }
  return Object.fromEntries(members);
}

function redactedText(piece: Piece | undefined, text: string): string {
  if (piece === undefined || piece.marks.length === 0) return text;
  const marks = piece.marks.toSorted((one, other) => one.from - other.from);
  const parts: string[] = [];
  let done = 0;
  for (const { from, to, name } of marks) {
    if (from >= done) parts.push(text.slice(done, from), `[REDACTED:${name}]`);
    done = Math.max(done, to);
  }
  return [...parts, text.slice(done)].join('');
}

function markerOf([first]: readonly Mark[]): string {
  return `[REDACTED:${first?.name}]`;
}
