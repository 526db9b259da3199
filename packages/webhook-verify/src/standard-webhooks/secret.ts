import { prepareHmac } from '#hmac';
import type { Hmac } from '../hmac/hmac.ts';
import { checkedSecret } from '../secret.ts';

/**
 * Prepares a Standard Webhooks secret: `whsec_` and the base64 of 24 to 64 bytes, which are the key.
 *
 * @throws {TypeError} when the secret has another form; the message does not repeat it
 */
export function prepareStandardSecret(secret: string): Hmac {
  const key = standardKey(checkedSecret(secret));
  if (key === undefined) {
    throw new TypeError('secret: must be whsec_ followed by the base64 of 24 to 64 bytes. Pass it exactly as issued.');
  }
  return prepareHmac(key);
}

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

const FORM = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

function standardKey(secret: string): Uint8Array | undefined {
  const encoded = FORM.exec(secret)?.[1];
  if (encoded === undefined) return undefined;
  const key = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}
