import { type RawBody, rawBody } from '../body.ts';
import { parseJson } from '../delivery.ts';
import { type HeaderSource, headerReader } from '../headers.ts';
import type { Hmac } from '../hmac/hmac.ts';
import type { WebhookOptions } from '../index.ts';
import { WebhookVerificationError } from '../index.ts';
import { secretList } from '../secret.ts';
import { sameDigest } from '../signature.ts';
import { checkedTolerance, parseTimestamp, requireFresh } from '../timestamp.ts';
import { prepareStandardSecret } from './secret.ts';
import { STANDARD_HEADERS } from './sign.ts';

/** A verified message: authentic and fresh. */
export interface StandardMessage {
  /** The id of the message, the same for each of its attempts: the key for deduplication. The signature covers it. */
  readonly id: string;
  /** The time of signing in Unix seconds. */
  readonly timestamp: number;
  /** The parsed body: any JSON value. */
  readonly payload: unknown;
}

/**
 * Verifies messages of any sender that signs by the Standard Webhooks specification.
 *
 * @example
 * import { StandardWebhook } from '@svc/webhook-verify/standard-webhooks';
 *
 * const webhook = new StandardWebhook(process.env.WEBHOOK_SECRET ?? '');
 * export async function POST(request: Request): Promise<Response> {
 *   const { id, payload } = webhook.verify(await request.arrayBuffer(), request.headers);
 *   return Response.json({ id, payload });
 * }
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class StandardWebhook {
  readonly #secrets: readonly Hmac[];
  readonly #toleranceSeconds: number;
  readonly #now: () => number;

  /**
   * @param secret the secret, `whsec_…`; several while a rotation overlaps
   * @throws {TypeError} when a secret has another form, the list is empty, or the tolerance is not a positive number
   */
  constructor(secret: string | readonly string[], options: WebhookOptions = {}) {
    this.#secrets = secretList(secret).map(prepareStandardSecret);
    this.#toleranceSeconds = checkedTolerance(options.toleranceSeconds);
    this.#now = options.now ?? Date.now;
  }

  /**
   * Verifies a message and parses its body.
   *
   * @param body the bytes or text as received; a parsed object is a TypeError
   * @throws {WebhookVerificationError} when the message is not authentic, fresh and JSON
   */
  verify(body: RawBody, headers: HeaderSource): StandardMessage {
    const raw = rawBody(body);
    const { id, timestamp } = this.verifySignature(raw, headers);
    return { id, timestamp, payload: parseJson(raw) };
  }

  /**
   * As `verify`, without parsing the body.
   *
   * @throws {WebhookVerificationError} when the message is not authentic and fresh
   */
  verifySignature(body: RawBody, headers: HeaderSource): Omit<StandardMessage, 'payload'> {
    const raw = rawBody(body);
    const [id, timestamp, signatures] = readStandardHeaders(headers);
    if (id === undefined) throw missing(STANDARD_HEADERS.id);
    if (timestamp === undefined) throw missing(STANDARD_HEADERS.timestamp);
    if (signatures === undefined) throw missing(STANDARD_HEADERS.signature);
    const seconds = parseTimestamp(timestamp);
    requireFresh(seconds, this.#now(), this.#toleranceSeconds);
    const claimed = parseSignatures(signatures);
    let signed = false;
    for (const hmac of this.#secrets) {
      const computed = hmac(`${id}.${timestamp}.`, raw, 'base64');
      for (const digest of claimed) signed = sameDigest(computed, digest) || signed;
    }
    if (!signed) throw new WebhookVerificationError('signature_mismatch', undefined);
    return { id, timestamp: seconds };
  }
}

const readId = headerReader([STANDARD_HEADERS.id, STANDARD_HEADERS.timestamp]);
const SIGNATURE = STANDARD_HEADERS.signature;

/** Reads the three headers. The grammar of the signature has commas, so it has a reader of its own. */
function readStandardHeaders(source: HeaderSource): (string | undefined)[] {
  return [...readId(source), readList(source)];
}

/** Joins the values of the signature header. During a rotation it has several signatures. */
function readList(source: HeaderSource): string | undefined {
  if ('get' in source && typeof source.get === 'function' && !(source instanceof Map)) {
    return source.get(SIGNATURE) ?? undefined;
  }
  const pairs = Symbol.iterator in source ? source : Object.entries(source);
  const values = [...pairs].flatMap(([name, value]) => (name.toLowerCase() === SIGNATURE ? (value ?? []) : []));
  return values.length === 0 ? undefined : values.join(' ');
}

/** A rotation needs two or three signatures. Without a limit, one request could make us compare thousands. */
const MAX_SIGNATURES = 20;

/**
 * Reads the base64 digests of version `v1` from a list of `<version>,<signature>`. Other versions are ignored.
 *
 * @throws {WebhookVerificationError} `malformed_signature` when there is none, or more than 20 entries
 */
function parseSignatures(text: string): readonly string[] {
  // Platforms join repeated headers by a comma and a space.
  const entries = text.split(/,? +/, MAX_SIGNATURES + 1);
  const digests = entries.flatMap((entry) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry)?.[1] ?? []);
  if (digests.length === 0 || entries.length > MAX_SIGNATURES) {
    throw new WebhookVerificationError('malformed_signature', undefined);
  }
  return digests;
}

function missing(header: string): WebhookVerificationError {
  return new WebhookVerificationError('missing_header', { header });
}
