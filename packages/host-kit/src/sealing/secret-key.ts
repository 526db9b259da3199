/** 32 random bytes: as bytes, or as text of 64 hexadecimal digits or of base64. */
export type SecretKey = Uint8Array | string;

/**
 * A secret key that is being replaced.
 *
 * @example
 * const secretKey: SecretKeys = { current: process.env.SECRET_KEY, former: [process.env.FORMER_SECRET_KEY] };
 */
export interface SecretKeys {
  /** Seals every record that is written. */
  readonly current: SecretKey;
  /**
   * Former keys. Records that they sealed are opened, and sealed anew with `current` after the start. The log record
   * `secrets.resealed` tells when no record needs them any more. Hosts that share a store get the next key here, before the
   * first of them uses it as `current`.
   */
  readonly former: readonly SecretKey[];
}

/**
 * Reads the bytes of the option `secretKey`: first those of the current key.
 *
 * @throws {TypeError} for a text that is no key
 */
export function secretKeyring(option: SecretKey | SecretKeys): { current: Uint8Array; former: readonly Uint8Array[] } {
  if (typeof option === 'string' || ArrayBuffer.isView(option))
    return { current: secretKeyBytes('secretKey', option), former: [] };
  return {
    current: secretKeyBytes('secretKey.current', option.current),
    former: option.former.map((key, index) => secretKeyBytes(`secretKey.former[${index}]`, key)),
  };
}

/**
 * Reads the bytes of a secret key. Those that are given as bytes are judged by `secretBox`.
 *
 * @param option the name of the option that has it
 * @throws {TypeError} for a text that is neither 64 hexadecimal digits nor base64 of 32 bytes. The message does not quote it
 */
export function secretKeyBytes(option: string, key: SecretKey): Uint8Array {
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
