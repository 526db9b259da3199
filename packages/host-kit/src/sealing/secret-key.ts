/**
 * Reads the bytes of a secret key. Those that are given as bytes are judged by `secretBox`.
 *
 * @param option the name of the option that has it
 * @throws {TypeError} for a text that is neither 64 hexadecimal digits nor base64 of 32 bytes. The message does not quote it
 */
export function secretKeyBytes(option: string, key: Uint8Array | string): Uint8Array {
  if (typeof key !== 'string') return key;
  if (HEXADECIMAL.test(key)) return new Uint8Array(Buffer.from(key, 'hex'));
  if (BASE64.test(key)) return new Uint8Array(Buffer.from(key, 'base64'));
  throw new TypeError(
    `${option}: must be 64 hexadecimal digits, or 44 characters of base64, not another text of ${key.length} characters. Make one with \`openssl rand -hex 32\`.`,
  );
}

/** The last character of 32 bytes has two bits that no byte has. Another one would be a typing error. */
const BASE64 = /^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/;
const HEXADECIMAL = /^[0-9A-Fa-f]{64}$/;
