import { type RawBody, rawBody } from '../body.ts';
import { parseJson } from '../delivery.ts';
import { WebhookVerificationError } from '../errors.ts';
import type { HeaderSource } from '../headers.ts';
import type { Hmac } from '../hmac/hmac.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { secretList } from '../secret.ts';
import { sameDigest } from '../signature.ts';
import { checkedTolerance, parseTimestamp, requireFresh } from '../timestamp.ts';
import type { WebhookOptions } from '../webhook.ts';
import { type StandardHeaderFamily, type StandardHeaders, standardHeaderReader } from './headers.ts';
import { prepareStandardSecret } from './secret.ts';

/** The options of {@link StandardWebhook} and `standardVerifier`. */
export interface StandardWebhookOptions extends WebhookOptions {
  /**
   * The accepted header families, at least one: `webhook` for the names of the specification, `svix` for `svix-id`,
   * `svix-timestamp` and `svix-signature`. A request with headers of two accepted families is rejected with
   * `header_mismatch`. Default `['webhook']`.
   */
  readonly families?: readonly StandardHeaderFamily[];
  /**
   * Whether a secret may lack `whsec_`. Default false: the hexadecimal secret of a `v1` subscription is base64 too, and
   * would be taken for another key.
   */
  readonly unprefixedSecret?: boolean;
}

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
  readonly #readHeaders: (source: HeaderSource) => StandardHeaders;

  /**
   * @param secret the secret, `whsec_…`; several while a rotation overlaps
   * @throws {TypeError} when a secret has another form, a list is empty, a family or an option is unknown, or the tolerance is
   * not a positive number
   */
  constructor(secret: string | readonly string[], options: StandardWebhookOptions = {}) {
    requireKnown('StandardWebhook', options, STANDARD_OPTIONS);
    const { families = ['webhook'], unprefixedSecret = false } = options;
    this.#secrets = secretList(secret).map((one) => prepareStandardSecret(one, unprefixedSecret));
    this.#readHeaders = standardHeaderReader(families);
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
    const { id, timestamp, signatures } = this.#readHeaders(headers);
    const seconds = parseTimestamp(timestamp);
    requireFresh(seconds, this.#now(), this.#toleranceSeconds);
    // The signed text of an old message could be split at another dot: its old time in the id, and a number of its body as time.
    if (id.includes('.')) throw new WebhookVerificationError('malformed_signature', undefined);
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

const STANDARD_OPTIONS: OptionNames<StandardWebhookOptions> = {
  webhookId: true,
  toleranceSeconds: true,
  now: true,
  families: true,
  unprefixedSecret: true,
};

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
