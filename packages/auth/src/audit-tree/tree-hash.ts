import { sha256, sha256OfHex } from '#sha256';

/**
 * Returns the hash of a leaf: SHA-256 of a zero byte and the data, in lower-case hexadecimal. The prefix keeps a leaf from
 * passing as a node.
 *
 * @example
 * leafHash(new Uint8Array()); // '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'
 * @see RFC 6962, section 2.1; RFC 9162, section 2.1.1
 */
export function leafHash(data: Uint8Array): string {
  const bytes = new Uint8Array(data.length + 1);
  bytes.set(data, 1);
  return sha256(bytes);
}

/**
 * Returns the hash of an entry's leaf. The data of the leaf are the 32 bytes of the entry's hash.
 *
 * @param hash `hash` of the entry, 64 hexadecimal digits
 * @throws {TypeError} for another text
 * @example
 * const leaf = entryLeaf(entryHash(entry));
 */
export function entryLeaf(hash: string): string {
  return sha256OfHex(`00${checked(hash)}`);
}

/** Returns the hash of a node: SHA-256 of a byte 1 and the hashes of its children, all in hexadecimal. */
export function nodeHash(left: string, right: string): string {
  return sha256OfHex(`01${checked(left)}${checked(right)}`);
}

/** The root of a tree without leaves: SHA-256 of no bytes. */
export const EMPTY_ROOT = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Returns whether a text is a hash in lower-case hexadecimal. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

const DIGEST = /^[0-9a-f]{64}$/;

/** The digits are checked where they are decoded. */
function checked(hash: string): string {
  if (hash.length !== 64) throw new TypeError('tree: a hash must have 64 lower-case hexadecimal digits.');
  return hash;
}
