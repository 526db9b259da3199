import { prepareHmac } from '#hmac';
import type { Hmac } from '../hmac/hmac.ts';
import { checkedSecret } from '../secret.ts';

/**
 * Prepares a Standard Webhooks secret, `whsec_` and the base64 of 24 to 64 bytes, for many messages.
 *
 * @param isPrefixOptional whether `whsec_` may be absent. Default: false
 * @throws {TypeError} when the secret has another form; the message does not repeat it
 * @example
 * import { prepareStandardSecret, signStandardWith } from '@svc/webhook-verify/standard-webhooks';
 *
 * const hmac = prepareStandardSecret(process.env.WEBHOOK_SECRET ?? '');
 * const timestamp = Math.floor(Date.now() / 1000);
 * console.log(signStandardWith([hmac], { body: '{}', id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', timestamp }));
 */
export function prepareStandardSecret(secret: string, isPrefixOptional = false): Hmac {
  const text = checkedSecret(secret);
  const key = standardKey(isPrefixOptional && !text.startsWith(PREFIX) ? PREFIX + text : text);
  if (key === undefined) {
    const form = isPrefixOptional ? 'the base64 of 24 to 64 bytes, after whsec_ or alone' : REQUIRED_FORM;
    throw new TypeError(`secret: must be ${form}. Pass it exactly as issued.`);
  }
  return prepareHmac(key);
}

const REQUIRED_FORM = 'whsec_ followed by the base64 of 24 to 64 bytes';

/**
 * Whether a text has the form of a Standard Webhooks secret: `whsec_` and the base64 of 24 to 64 bytes.
 *
 * @example
 * import { isStandardSecret } from '@svc/webhook-verify/standard-webhooks';
 *
 * console.log(isStandardSecret('0123456789abcdef')); // false
 */
export function isStandardSecret(secret: string): boolean {
  return standardKey(secret) !== undefined;
}

const PREFIX = 'whsec_';
const FORM = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

function standardKey(secret: string): Uint8Array | undefined {
  const encoded = FORM.exec(secret)?.[1];
  if (encoded === undefined) return undefined;
  const key = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}
