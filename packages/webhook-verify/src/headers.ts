import { WebhookVerificationError } from './errors.ts';

/**
 * The two spellings of the delivery headers: A is `SVC-…`, B the older `X-svc-…`. A sender of both gives them the same values.
 *
 * @see Interface: Webhook delivery rules, Delivery headers
 */
export type HeaderFamily = 'A' | 'B';

/** Headers as the platforms hand them over. `headersDistinct` of Node is the form that has not lost a repeat. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string]>;

/** The signature headers of one delivery, whichever family brought them. */
export interface DeliveryHeaders {
  readonly webhookId: string;
  readonly eventType: string;
  readonly timestamp: string;
  readonly signature: string;
  /** Absent means `v1`. */
  readonly algorithm: string | undefined;
}

export const HEADER_NAMES: Readonly<Record<HeaderFamily, Readonly<Record<keyof DeliveryHeaders, string>>>> = {
  A: namesOf('SVC-'),
  B: namesOf('X-svc-'),
};

/**
 * Reads the headers of family A, of family B, or of both when they agree.
 *
 * @throws {WebhookVerificationError} `missing_header`, `repeated_header`, `header_mismatch`
 */
export function readDeliveryHeaders(source: HeaderSource): DeliveryHeaders {
  const valuesOf = reader(source);
  const read = (field: keyof DeliveryHeaders) => agreed(valuesOf, field);
  const webhookId = read('webhookId');
  const eventType = read('eventType');
  const timestamp = read('timestamp');
  const signature = read('signature');
  if (webhookId === undefined) throw missing('webhookId');
  if (eventType === undefined) throw missing('eventType');
  if (timestamp === undefined) throw missing('timestamp');
  if (signature === undefined) throw missing('signature');
  return { webhookId, eventType, timestamp, signature, algorithm: read('algorithm') };
}

type Values = (lowerCaseName: string) => readonly string[];

const LOWER_CASE: Readonly<Record<keyof DeliveryHeaders, readonly [a: string, b: string]>> = {
  webhookId: lowerCase('webhookId'),
  eventType: lowerCase('eventType'),
  timestamp: lowerCase('timestamp'),
  signature: lowerCase('signature'),
  algorithm: lowerCase('algorithm'),
};

/** The one value that every occurrence in either family has. */
function agreed(valuesOf: Values, field: keyof DeliveryHeaders): string | undefined {
  const [nameA, nameB] = LOWER_CASE[field];
  const a = single(valuesOf(nameA), nameA);
  const b = single(valuesOf(nameB), nameB);
  if (a !== undefined && b !== undefined && a !== b) {
    throw new WebhookVerificationError('header_mismatch', { header: nameA });
  }
  return a ?? b;
}

/** None of these values has a comma in its grammar, so a comma is how a platform joined two headers. */
function single(values: readonly string[], header: string): string | undefined {
  let only: string | undefined;
  for (const value of values) {
    for (const part of value.includes(',') ? value.split(',') : [value]) {
      const text = part.trim();
      if (only !== undefined && only !== text) throw new WebhookVerificationError('repeated_header', { header });
      only = text;
    }
  }
  return only === '' ? undefined : only;
}

function reader(source: HeaderSource): Values {
  if (hasGet(source)) {
    return (name) => {
      const value = source.get(name);
      return value === null ? [] : [value];
    };
  }
  const byName = new Map<string, string[]>();
  for (const [name, value] of isIterable(source) ? source : Object.entries(source)) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const values = byName.get(key) ?? [];
    byName.set(key, values.concat(value));
  }
  return (name) => byName.get(name) ?? [];
}

function hasGet(source: HeaderSource): source is { get(name: string): string | null } {
  return 'get' in source && typeof source.get === 'function';
}

function isIterable(source: HeaderSource): source is Iterable<readonly [string, string]> {
  return Symbol.iterator in source;
}

function missing(field: keyof DeliveryHeaders): WebhookVerificationError {
  return new WebhookVerificationError('missing_header', { header: HEADER_NAMES.A[field] });
}

function namesOf(prefix: string): Readonly<Record<keyof DeliveryHeaders, string>> {
  return {
    webhookId: `${prefix}Webhook-Id`,
    eventType: `${prefix}Event-Type`,
    timestamp: `${prefix}Timestamp`,
    signature: `${prefix}Signature`,
    algorithm: `${prefix}Signature-Algorithm`,
  };
}

function lowerCase(field: keyof DeliveryHeaders): readonly [a: string, b: string] {
  return [HEADER_NAMES.A[field].toLowerCase(), HEADER_NAMES.B[field].toLowerCase()];
}
