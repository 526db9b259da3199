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

/** A message that is authentic and fresh. */
export interface StandardMessage {
  /** Names the message, the same for every attempt: what to deduplicate on. Covered by the signature. */
  readonly id: string;
  /** Unix seconds at signing. */
  readonly timestamp: number;
  /** The parsed body; anything that JSON can say. */
  readonly payload: unknown;
}

/**
 * Verifies messages of any sender that signs by the Standard Webhooks specification.
 *
 * @example
 * const message = new StandardWebhook('whsec_…').verify(new Uint8Array(await request.arrayBuffer()), request.headers);
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class StandardWebhook {
  readonly #secrets: readonly Hmac[];
  readonly #toleranceSeconds: number;
  readonly #now: () => number;

  /**
   * @param secret `whsec_…`; several while the old one is still in use
   * @throws {TypeError} for a secret of another form, none at all, or a tolerance that is not a positive number
   */
  constructor(secret: string | readonly string[], options: WebhookOptions = {}) {
    this.#secrets = secretList(secret).map(prepareStandardSecret);
    this.#toleranceSeconds = checkedTolerance(options.toleranceSeconds);
    this.#now = options.now ?? Date.now;
  }

  /**
   * @param body the bytes or text as received; a parsed object is a TypeError
   * @throws {WebhookVerificationError} when the message is not authentic, fresh and JSON
   */
  verify(body: RawBody, headers: HeaderSource): StandardMessage {
    const raw = rawBody(body);
    const { id, timestamp } = this.verifySignature(raw, headers);
    return { id, timestamp, payload: parseJson(raw) };
  }

  /** As `verify`, without parsing the body. */
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

/** The signature's grammar has commas, so it is not read as the others are. */
function readStandardHeaders(source: HeaderSource): (string | undefined)[] {
  return [...readId(source), readList(source)];
}

/** Every value that the header has, in one list. More than one signature is what a rotation looks like. */
function readList(source: HeaderSource): string | undefined {
  if ('get' in source && typeof source.get === 'function' && !(source instanceof Map)) {
    return source.get(SIGNATURE) ?? undefined;
  }
  const pairs = Symbol.iterator in source ? source : Object.entries(source);
  const values = [...pairs].flatMap(([name, value]) => (name.toLowerCase() === SIGNATURE ? (value ?? []) : []));
  return values.length === 0 ? undefined : values.join(' ');
}

/** Senders that rotate put two or three; a hundred are somebody's attempt to make us compare. */
const MAX_SIGNATURES = 20;

/**
 * The base64 digests of a list of `<version>,<signature>`. Versions other than `v1` are a matter of other receivers.
 *
 * @throws {WebhookVerificationError} `malformed_signature` without a single one of `v1`
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
