import { HostError, invalid } from '../../errors.ts';
import type { Json, JsonObject } from '../../json.ts';

/** A field of a form, as it was sent. */
export type FormField = readonly [name: string, value: string];

/** The name of the field that has the token. */
export const TOKEN_FIELD = 'svc_token';

/**
 * Requires a media type of HTML forms, without a content coding.
 *
 * @throws {HostError} `unsupported_media_type`
 */
export function requireForm(headers: Headers): void {
  const isPlain = (headers.get('content-encoding') ?? 'identity').toLowerCase() === 'identity';
  if (isPlain && mediaTypeOf(headers) !== undefined) return;
  const message = `Send the form as ${URL_ENCODED} or ${MULTIPART}, without a Content-Encoding.`;
  throw new HostError('unsupported_media_type', message, { details: undefined });
}

/**
 * Parses the fields of a form, in their order.
 *
 * @throws {HostError} `unsupported_media_type`; `validation_error` for a body that cannot be read, a file, or fields above the bounds
 */
export async function parseFields(headers: Headers, body: Uint8Array): Promise<readonly FormField[]> {
  requireForm(headers);
  const fields = mediaTypeOf(headers) === MULTIPART ? await multipartFields(headers, body) : encodedFields(body);
  for (const [name] of fields) {
    if (name !== '' && name.length <= LONGEST_NAME) continue;
    throw invalid({ field: 'body', problem: `must have names of fields of 1 to ${LONGEST_NAME} characters` });
  }
  return fields;
}

/** The fields as the body of a document, without the token. A name that is sent several times has a list. */
export function bodyOf(fields: readonly FormField[]): JsonObject {
  const values = new Map<string, Json>();
  for (const [name, value] of fields) {
    if (name === TOKEN_FIELD) continue;
    const before = values.get(name);
    values.set(name, before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value]);
  }
  // `fromEntries` makes an own member also for the name `__proto__`.
  return Object.fromEntries(values);
}

const URL_ENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
const MOST_FIELDS = 200;
const LONGEST_NAME = 128;

function mediaTypeOf(headers: Headers): typeof URL_ENCODED | typeof MULTIPART | undefined {
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  return [URL_ENCODED, MULTIPART].find((known): known is typeof MULTIPART => known === type.trim());
}

function encodedFields(body: Uint8Array): readonly FormField[] {
  requireFew(count(body, AMPERSAND) + 1);
  return [...new URLSearchParams(decoded(body))];
}

async function multipartFields(headers: Headers, body: Uint8Array): Promise<readonly FormField[]> {
  const boundary = boundaryOf(headers.get('content-type') ?? '');
  requireFew(partsOf(boundary, body) - 1);
  const fields: FormField[] = [];
  for (const [name, value] of await formDataOf(boundary, body)) {
    if (typeof value !== 'string')
      throw invalid({ field: 'body', problem: 'must not have a file. Send the fields of the form without files' });
    fields.push([name, value]);
    requireFew(fields.length);
  }
  return fields;
}

function boundaryOf(type: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(type) ?? [];
  const boundary = quoted ?? plain ?? '';
  if (!BOUNDARY.test(boundary)) throw unreadable();
  return boundary;
}

/** The characters of RFC 2046, section 5.1.1. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{1,70}$/;

/** Counts the boundaries before the parts are parsed: thousands of empty ones would take the time of other requests. */
function partsOf(boundary: string, body: Uint8Array): number {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let parts = 0;
  for (
    let at = bytes.indexOf(`--${boundary}`);
    at >= 0 && parts <= MOST_FIELDS + 1;
    at = bytes.indexOf(`--${boundary}`, at + 2)
  )
    parts++;
  return parts;
}

/** The parser gets the boundary that was counted: it would find another one in some media types. */
async function formDataOf(boundary: string, body: Uint8Array): Promise<FormData> {
  const type = `${MULTIPART}; boundary="${boundary}"`;
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  } catch {
    throw unreadable();
  }
}

function decoded(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw unreadable();
  }
}

function count(bytes: Uint8Array, wanted: number): number {
  let found = 0;
  for (const byte of bytes) if (byte === wanted) found++;
  return found;
}

function requireFew(fields: number): void {
  if (fields > MOST_FIELDS) throw invalid({ field: 'body', problem: `must have at most ${MOST_FIELDS} fields` });
}

function unreadable(): HostError {
  return invalid({ field: 'body', problem: 'cannot be read as a form. Send it as a browser does' });
}

const AMPERSAND = 0x26;
