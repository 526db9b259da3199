import { WebhookVerificationError } from './errors.ts';

/**
 * The prefix of a family of delivery headers, without its hyphen. `SVC` names the `SVC-…` headers, which major 2 sends;
 * `X-svc` the older `X-svc-…` headers, which major 1 sends. A host that sends both families gives them the same values.
 *
 * @see Interface: Webhook delivery rules, Delivery headers
 */
export type HeaderFamily = 'SVC' | 'X-svc';

/**
 * The headers of a request in any form: Web `Headers`, a record, or pairs. On Node pass `request.headersDistinct`,
 * which keeps repeated headers apart; `request.headers` drops or joins them.
 */
export type HeaderSource =
  /** A `Headers` object, or any other object that looks a header up by its name in any letter case. */
  | { get(name: string): string | null | undefined }
  /** A record of headers, with a list for a repeated header. */
  | Readonly<Record<string, string | readonly string[] | undefined>>
  /** Pairs of a name and a value, such as a `Map`. */
  | Iterable<readonly [string, string]>;

/** The signature headers of one delivery, of either family. */
export interface DeliveryHeaders {
  /** The id of the subscription. */
  readonly webhookId: string;
  /** The type of the event. */
  readonly eventType: string;
  /** The time of signing in Unix seconds, as decimal digits. */
  readonly timestamp: string;
  /** `sha256=` and 64 hexadecimal digits. */
  readonly signature: string;
  /** The signature algorithm; undefined means `v1`. */
  readonly algorithm: string | undefined;
}

/** The names of the delivery headers of each family, such as `HEADER_NAMES.SVC.signature` for `SVC-Signature`. */
export const HEADER_NAMES: Readonly<Record<HeaderFamily, Readonly<Record<keyof DeliveryHeaders, string>>>> = {
  SVC: namesOf('SVC'),
  'X-svc': namesOf('X-svc'),
};

/**
 * Reads the `SVC-` headers, the `X-svc-` headers, or both when they agree.
 *
 * @throws {WebhookVerificationError} `missing_header`, `repeated_header`, `header_mismatch`
 * @throws {TypeError} when `source` is not an object
 */
export function readDeliveryHeaders(source: HeaderSource): DeliveryHeaders {
  const values = readBoth(source);
  return {
    webhookId: required(values, 0),
    eventType: required(values, 1),
    timestamp: required(values, 2),
    signature: required(values, 3),
    algorithm: agreed(values, 4),
  };
}

type Values = readonly (string | undefined)[];

/** The number of fields. The `X-svc-` value of a field stands this many places after the `SVC-` value. */
const FIELDS = 5;

function required(values: Values, field: number): string {
  const value = agreed(values, field);
  if (value === undefined) throw new WebhookVerificationError('missing_header', { header: nameOf(field) });
  return value;
}

function agreed(values: Values, field: number): string | undefined {
  const svc = values[field];
  const xSvc = values[field + FIELDS];
  if (svc === undefined || xSvc === undefined || svc === xSvc) return svc ?? xSvc;
  throw new WebhookVerificationError('header_mismatch', { header: nameOf(field) });
}

/**
 * Makes a reader of some headers. The reader returns their values in the order of the names, undefined for an absent
 * header. The names are prepared once, because a receiver reads the same headers of every request.
 *
 * @returns a reader that throws a {@link WebhookVerificationError} `repeated_header` when a header has two different
 * values
 */
export function headerReader(names: readonly string[]): (source: HeaderSource) => (string | undefined)[] {
  const lowerCase = names.map((name) => name.toLowerCase());
  const places = new Map([...names.entries(), ...lowerCase.entries()].map(([place, name]) => [name, place]));
  // Most headers are dismissed by the length of their name, which costs no change of letter case.
  const lengths = new Set(names.map(({ length }) => length));

  return (source) => {
    if (typeof source !== 'object' || source === null) {
      throw new TypeError('headers: must be a Headers object, a record or a list of pairs. Pass request.headers.');
    }
    const values: (string | undefined)[] = new Array(names.length).fill(undefined);
    if (hasGet(source)) {
      for (const [place, name] of lowerCase.entries()) put(values, place, source.get(name));
    } else if (isIterable(source)) {
      for (const [name, value] of source) take(values, name, value);
    } else {
      const record: Readonly<Record<string, unknown>> = source;
      for (const name of Object.keys(record)) take(values, name, record[name]);
    }
    return values;
  };

  function take(values: (string | undefined)[], name: string, value: unknown): void {
    if (!lengths.has(name.length)) return;
    const place = places.get(name) ?? places.get(name.toLowerCase());
    if (place === undefined) return;
    if (Array.isArray(value)) for (const one of value) put(values, place, one);
    else put(values, place, value);
  }

  /**
   * Splits a value at its commas: no grammar of these headers has one, so a comma means that a platform joined two
   * headers.
   */
  function put(values: (string | undefined)[], place: number, value: unknown): void {
    if (typeof value !== 'string') return;
    if (value.includes(',')) for (const part of value.split(',')) putOne(values, place, withoutSpace(part));
    else putOne(values, place, withoutSpace(value));
  }

  function putOne(values: (string | undefined)[], place: number, value: string): void {
    if (value === '') return;
    const present = values[place];
    if (present === undefined) values[place] = value;
    else if (present !== value) throw new WebhookVerificationError('repeated_header', { header: names[place] ?? '' });
  }
}

/**
 * Removes the white space that HTTP allows around a value. `trim` would also remove a no-break space, which belongs to
 * the value.
 *
 * @see RFC 9110, section 5.6.3
 */
export function withoutSpace(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value.charCodeAt(start))) start += 1;
  while (end > start && isSpace(value.charCodeAt(end - 1))) end -= 1;
  return start === 0 && end === value.length ? value : value.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Excludes a `Map`, whose `get` depends on letter case. It is read as pairs instead. */
function hasGet(source: HeaderSource): source is { get(name: string): string | null | undefined } {
  return 'get' in source && typeof source.get === 'function' && !(source instanceof Map);
}

function isIterable(
  source: Iterable<readonly [string, string]> | Readonly<Record<string, unknown>>,
): source is Iterable<readonly [string, string]> {
  return Symbol.iterator in source;
}

const SVC_NAMES = Object.values(HEADER_NAMES.SVC);
const readBoth = headerReader([...SVC_NAMES, ...Object.values(HEADER_NAMES['X-svc'])]);

function nameOf(field: number): string {
  return SVC_NAMES[field] ?? '';
}

function namesOf(family: HeaderFamily): Readonly<Record<keyof DeliveryHeaders, string>> {
  return {
    webhookId: `${family}-Webhook-Id`,
    eventType: `${family}-Event-Type`,
    timestamp: `${family}-Timestamp`,
    signature: `${family}-Signature`,
    algorithm: `${family}-Signature-Algorithm`,
  };
}
