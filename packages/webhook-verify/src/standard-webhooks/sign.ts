import { rawBody } from '../body.ts';
import type { Hmac } from '../hmac/hmac.ts';
import { secretList } from '../secret.ts';
import { prepareStandardSecret } from './secret.ts';

/** The three headers, in the lower case that the specification writes them in. */
export const STANDARD_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const;

export interface SignStandardInput {
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array | string;
  /** `whsec_…`; several while a rotation overlaps, each of which signs. */
  readonly secret: string | readonly string[];
  /** The same for every attempt of one message, and for no other message. Without a dot. */
  readonly id: string;
  /** Unix seconds, a whole number. */
  readonly timestamp: number;
}

/**
 * The headers of one message by the Standard Webhooks specification.
 *
 * @throws {TypeError} for an id with a dot or outside visible ASCII, a timestamp that is not whole seconds, or a secret of another form
 * @example
 * const headers = signStandard({ body, secret, id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', timestamp: 1674087231 });
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signStandard(input: SignStandardInput): Record<string, string> {
  return signStandardWith(secretList(input.secret).map(prepareStandardSecret), input);
}

/** As `signStandard`, with secrets prepared once for many messages. */
export function signStandardWith(
  secrets: readonly Hmac[],
  { id, timestamp, body }: Omit<SignStandardInput, 'secret'>,
): Record<string, string> {
  // A dot would move the border between the id and the timestamp.
  if (!/^[!-\-/-~]{1,256}$/.test(id)) {
    throw new TypeError('id: must be visible ASCII without a dot, 1 to 256 characters. Pass the id of the message.');
  }
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw new TypeError('timestamp: must be Unix time in whole seconds. Pass Math.floor(Date.now() / 1000).');
  }
  const raw = rawBody(body);
  return {
    [STANDARD_HEADERS.id]: id,
    [STANDARD_HEADERS.timestamp]: String(timestamp),
    [STANDARD_HEADERS.signature]: secrets.map((hmac) => `v1,${hmac(`${id}.${timestamp}.`, raw, 'base64')}`).join(' '),
  };
}
