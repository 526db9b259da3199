import { WebhookVerificationError } from '../errors.ts';
import { type HeaderSource, headerReader } from '../headers.ts';

/** A family of the three headers: `webhook` for `webhook-id` and so on, `svix` for `svix-id` and so on. */
export type StandardHeaderFamily = 'webhook' | 'svix';

/** The three headers of one message. */
export interface StandardHeaders {
  /** The id of the message. */
  readonly id: string;
  /** The time of signing in Unix seconds, as decimal digits. */
  readonly timestamp: string;
  /** The list of `<version>,<signature>`. */
  readonly signatures: string;
}

/**
 * Makes a reader of the three headers in one of the accepted families.
 *
 * @returns a reader that throws a {@link WebhookVerificationError} `missing_header`, `repeated_header`, or
 * `header_mismatch` when a request has headers of two accepted families: its id would be ambiguous
 * @throws {TypeError} when the list is empty or has an unknown family
 */
export function standardHeaderReader(
  families: readonly StandardHeaderFamily[],
): (source: HeaderSource) => StandardHeaders {
  const isKnown = (family: StandardHeaderFamily) => family === 'webhook' || family === 'svix';
  if (!Array.isArray(families) || families.length === 0 || !families.every(isKnown)) {
    throw new TypeError("families: must list 'webhook', 'svix' or both. Leave it out for 'webhook'.");
  }
  const readers = [...new Set(families)].map(familyReader);

  return (source) => {
    const [first, second] = readers.map((read) => read(source)).filter(isPresent);
    if (second !== undefined) throw new WebhookVerificationError('header_mismatch', { header: `${second.family}-id` });
    const { family = families[0] ?? 'webhook', id, timestamp, signatures } = first ?? {};
    if (id === undefined) throw missing(`${family}-id`);
    if (timestamp === undefined) throw missing(`${family}-timestamp`);
    if (signatures === undefined) throw missing(`${family}-signature`);
    return { id, timestamp, signatures };
  };
}

interface FamilyHeaders {
  readonly family: StandardHeaderFamily;
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signatures: string | undefined;
}

function familyReader(family: StandardHeaderFamily): (source: HeaderSource) => FamilyHeaders {
  const readSingle = headerReader([`${family}-id`, `${family}-timestamp`]);
  return (source) => {
    const [id, timestamp] = readSingle(source);
    return { family, id, timestamp, signatures: readList(source, `${family}-signature`) };
  };
}

function isPresent({ id, timestamp, signatures }: FamilyHeaders): boolean {
  return id !== undefined || timestamp !== undefined || signatures !== undefined;
}

/**
 * Joins the values of the signature header. During a rotation it has several signatures, and its grammar has commas, so
 * `headerReader` cannot read it.
 */
function readList(source: HeaderSource, header: string): string | undefined {
  if ('get' in source && typeof source.get === 'function' && !(source instanceof Map)) {
    return source.get(header) ?? undefined;
  }
  const pairs = Symbol.iterator in source ? source : Object.entries(source);
  const values = [...pairs].flatMap(([name, value]) => (name.toLowerCase() === header ? (value ?? []) : []));
  return values.length === 0 ? undefined : values.join(' ');
}

function missing(header: string): WebhookVerificationError {
  return new WebhookVerificationError('missing_header', { header });
}
