/** A JSON value. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [name: string]: CanonicalValue };

/**
 * Returns the canonical text of a JSON value, for hashing: names sorted by their UTF-16 code units, no white space,
 * numbers and strings as ECMAScript writes them.
 *
 * @throws {TypeError} for a value that JSON cannot express: NaN, infinity, half of a surrogate pair, undefined, a
 * function
 * @example
 * canonicalJson({ b: 1, a: [true] }); // '{"a":[true],"b":1}'
 * @see RFC 8785, section 3.2
 */
export function canonicalJson(value: CanonicalValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  if (typeof value === 'string' && !LONE_SURROGATE.test(value)) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isRecord(value))
    return `{${Object.keys(value)
      .sort()
      .map((name) => member(name, value[name]))
      .join(',')}}`;
  throw new TypeError('canonicalJson: value must be JSON, without NaN, infinity or half a surrogate pair.');
}

/** Matches texts without a character that JSON escapes. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** With the flag `u` a surrogate pair is one character and does not match. */
const LONE_SURROGATE = /\p{Cs}/u;

function member(name: string, value: CanonicalValue | undefined): string {
  if (value === undefined) throw new TypeError('canonicalJson: a member must not be undefined. Leave it out.');
  return `${canonicalJson(name)}:${canonicalJson(value)}`;
}

function isList(value: unknown): value is readonly CanonicalValue[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is { readonly [name: string]: CanonicalValue } {
  return typeof value === 'object' && value !== null;
}
