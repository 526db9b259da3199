import type { Json } from '../json.ts';
import { encodedParts } from './encoded-parts.ts';
import { occurrences } from './occurrences.ts';
import { type SHORTEST_SECRET, secretPatterns } from './secret-patterns.ts';
import { decodedView, escapesIn, lastAtOrBefore, lowerCase, plainView, type TextView } from './text-view.ts';

/**
 * Replaces the values of secrets in JSON by `[REDACTED:<name>]`: in strings, numbers and names of members, in usual
 * encodings, and split over several of them. Costs nothing before the first secret, then time linear in the JSON.
 */
export class Redactor {
  /** The patterns of each known value, by a key of name and value. */
  readonly #known = new Map<string, { readonly name: string; readonly patterns: readonly string[] }>();

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
    let left = WORK * sequence.text.length + LEAST_WORK;
    const spend = (characters: number): boolean => {
      left -= characters;
      return left >= 0;
    };
    const view = plainView(sequence.text);
    const isRead = this.#markIn(sequence, view, spend);
    if (!isRead) mark(sequence, view, { from: 0, to: view.text.length, name: UNREAD });
  }

  /**
   * Marks the secrets in a view of a sequence, and in all that is encoded in it.
   *
   * @returns false when a part was not decoded to its end, so that it may have a secret
   */
  #markIn(sequence: Sequence, whole: TextView, spend: (characters: number) => boolean, depth = 0): boolean {
    let isRead = true;
    let view = whole;
    for (let level = 0; ; level++) {
      if (!spend(view.text.length)) return false;
      this.#markPlain(sequence, view);
      for (const part of encodedParts(view, spend)) {
        const isPartRead = depth < MOST_DEPTH && this.#markIn(sequence, part, spend, depth + 1);
        if (!isPartRead && depth === 0) mark(sequence, part, { from: 0, to: part.text.length, name: UNREAD });
        else isRead &&= isPartRead;
      }
      isRead &&= spend(0);
      const next = decodedView(view);
      if (next === view) return isRead;
      if (level === MOST_LEVELS) break;
      view = next;
    }
    if (depth > 0) return false;
    // Only the pieces that are still escaped were not read.
    for (const escaped of escapesIn(view)) markPieces(sequence, escaped);
    return isRead;
  }

  #markPlain(sequence: Sequence, view: TextView): void {
    const text = lowerCase(view.text);
    for (const { name, patterns } of this.#known.values())
      for (const pattern of patterns)
        for (const index of occurrences(text, pattern))
          mark(sequence, view, { from: index, to: index + pattern.length, name });
  }
}

/** The deepest nesting of escapes that is decoded. A piece with a deeper one is redacted as a whole. */
const MOST_LEVELS = 8;
/** The deepest nesting of base64 and hexadecimal that is decoded. A text that is nested deeper is redacted as a whole. */
const MOST_DEPTH = 8;
/** The characters that are read, for each character of the text and at least. A text that needs more is redacted as a whole. */
const WORK = 96;
const LEAST_WORK = 65_536;
/** In place of the name of a secret: the text was not decoded to its end. */
const UNREAD = 'encoded';

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

/** Marks a part of a view in the pieces that it stands in. */
function mark({ pieces, starts, text }: Sequence, view: TextView, { from: first, to: end, name }: Mark): void {
  const from = view.from(first);
  const to = view.to(end - 1);
  for (let place = lastAtOrBefore(starts, from); place < pieces.length; place++) {
    const start = starts[place] ?? 0;
    if (start >= to) break;
    const next = starts[place + 1] ?? text.length;
    const part = { from: Math.max(from - start, 0), to: Math.min(to, next) - start, name };
    if (part.from < part.to) pieces[place]?.marks.push(part);
  }
}

/** Marks the whole of each piece that a part of a view stands in. */
function markPieces({ pieces, starts }: Sequence, part: TextView): void {
  const last = lastAtOrBefore(starts, part.to(part.text.length - 1) - 1);
  for (let place = lastAtOrBefore(starts, part.from(0)); place <= last; place++) {
    const piece = pieces[place];
    piece?.marks.push({ from: 0, to: piece.text.length, name: UNREAD });
  }
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
