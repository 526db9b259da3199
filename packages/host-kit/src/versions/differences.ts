import { isJsonObject, type Json } from '../json.ts';

/**
 * The kinds of differences between the answers of two majors. `missing`: major 1 has the member, and major 2 has not. `extra`:
 * the reverse. `type`: the values are of different JSON types. `length`: two lists have different lengths. `order`: they have
 * the same entries in another order. `refused`: one major answers, and the other refuses.
 */
export const DIFFERENCE_KINDS = ['missing', 'extra', 'type', 'value', 'length', 'order', 'refused'] as const;

export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** A difference without its values. */
export interface Difference {
  /**
   * A JSON pointer (RFC 6901) of the names that the protocol defines. `*` stands for the index of a list, and `?` for any
   * other name, because callers and engines may have chosen it.
   */
  readonly pointer: string;
  readonly kind: DifferenceKind;
}

/**
 * Compares the answers of two majors, which are in one form already.
 *
 * @param names the names that the protocol defines
 * @returns each pointer and kind once, at most {@link MOST_DIFFERENCES}
 */
export function differencesOf(first: Json, second: Json, names: ReadonlySet<string>): readonly Difference[] {
  const found = new Map<string, Difference>();
  const canonical = canonicalTexts();
  compare(first, second, '', 0);
  return [...found.values()];

  function note(pointer: string, kind: DifferenceKind): void {
    if (found.size < MOST_DIFFERENCES) found.set(`${pointer} ${kind}`, { pointer, kind });
  }

  function compare(one: Json, other: Json, pointer: string, depth: number): void {
    if (typeOf(one) !== typeOf(other)) note(pointer, 'type');
    else if (depth >= DEEPEST) {
      if (canonical(one) !== canonical(other)) note(pointer, 'value');
    } else if (Array.isArray(one) && Array.isArray(other)) compareLists(one, other, pointer, depth);
    else if (isJsonObject(one) && isJsonObject(other)) {
      for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
        const [mine, theirs] = [member(one, name), member(other, name)];
        const at = `${pointer}/${names.has(name) ? name : '?'}`;
        if (theirs === undefined && mine !== undefined) note(at, 'missing');
        else if (mine === undefined && theirs !== undefined) note(at, 'extra');
        else if (mine !== undefined && theirs !== undefined) compare(mine, theirs, at, depth + 1);
      }
    } else if (one !== other) note(pointer, 'value');
  }

  function compareLists(one: readonly Json[], other: readonly Json[], pointer: string, depth: number): void {
    if (one.length !== other.length) {
      note(pointer, 'length');
      return;
    }
    const [mine, theirs] = [one.map(canonical), other.map(canonical)];
    if (mine.every((text, index) => text === theirs[index])) return;
    if (mine.sort().join() === theirs.sort().join()) note(pointer, 'order');
    else for (const [index, entry] of one.entries()) compare(entry, other[index] ?? null, `${pointer}/*`, depth + 1);
  }
}

/** A report needs no more of one read. */
export const MOST_DIFFERENCES = 20;
/** No document of the protocol is deeper. What callers store may be. */
const DEEPEST = 32;

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Reads an own member only: a caller may have named one `__proto__`. */
function member(value: { readonly [name: string]: Json | undefined }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * Makes a function that returns JSON text in which equal values are equal texts. It remembers the text of each object: every
 * list around an object asks for it, and a caller may store lists within lists.
 */
function canonicalTexts(): (value: Json) => string {
  const known = new Map<Json, string>();
  const textOf = (value: Json): string => {
    if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
    if (!isJsonObject(value)) return JSON.stringify(value);
    const members = Object.keys(value)
      .sort()
      .flatMap((name) => {
        const each = value[name];
        return each === undefined ? [] : [`${JSON.stringify(name)}:${canonical(each)}`];
      });
    return `{${members.join()}}`;
  };
  function canonical(value: Json): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const text = known.get(value) ?? textOf(value);
    known.set(value, text);
    return text;
  }
  return canonical;
}
