import { rawBody } from '../body.ts';
import type { Hmac } from '../hmac/hmac.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { secretList } from '../secret.ts';
import { prepareStandardSecret } from './secret.ts';

/** The names of the three headers, in lower case as the specification writes them. */
const STANDARD_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const;

/** The input of {@link signStandard}. */
export interface SignStandardInput {
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array | string;
  /** The secret, `whsec_…`; several while a rotation overlaps, and each of them signs. */
  readonly secret: string | readonly string[];
  /**
   * The id of the message, the same for each of its attempts: 1 to 256 visible ASCII characters without dot and comma.
   */
  readonly id: string;
  /** The time of signing in whole Unix seconds. */
  readonly timestamp: number;
}

/**
 * Returns the headers of one message by the Standard Webhooks specification.
 *
 * @throws {TypeError} when the id has a dot or a comma or is not visible ASCII, the timestamp is not whole seconds, or a secret
 * has another form
 * @example
 * import { signStandard } from '@svc/webhook-verify/standard-webhooks';
 *
 * const secret = process.env.WEBHOOK_SECRET ?? '';
 * const headers = signStandard({ body: '{}', secret, id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', timestamp: 1674087231 });
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signStandard(input: SignStandardInput): Record<string, string> {
  requireKnown('signStandard', input, SIGN_NAMES);
  const secrets = secretList(input.secret).map((secret) => prepareStandardSecret(secret));
  return signStandardWith(secrets, input);
}

const SIGN_NAMES: OptionNames<SignStandardInput> = { body: true, secret: true, id: true, timestamp: true };

/**
 * Does the same as `signStandard`, with secrets that `prepareStandardSecret` has prepared once for many messages.
 *
 * @throws {TypeError} when the id has a dot or a comma or is not visible ASCII, or the timestamp is not whole seconds
 * @example
 * import { prepareStandardSecret, signStandardWith } from '@svc/webhook-verify/standard-webhooks';
 *
 * const secrets = [prepareStandardSecret(process.env.WEBHOOK_SECRET ?? '')];
 * const headers = signStandardWith(secrets, { body: '{}', id: 'msg_1', timestamp: 1674087231 });
 */
export function signStandardWith(
  secrets: readonly Hmac[],
  { id, timestamp, body }: Omit<SignStandardInput, 'secret'>,
): Record<string, string> {
  // A dot in the id would make the signed text ambiguous: the dot is the separator of id and timestamp. A comma would
  // look like two headers that a platform has joined.
  if (!/^[!-+\-/-~]{1,256}$/.test(id)) {
    throw new TypeError('id: must be visible ASCII without dot and comma, 1 to 256 characters. Pass the message id.');
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
