import type { PrepareHmac } from './hmac.ts';

/**
 * Prepares HMAC-SHA256 with Node's OpenSSL. All but long messages take two one-shot hashes (RFC 2104), which cost about
 * half as much as one `Hmac` object.
 *
 * `node:crypto` is loaded with the first key, because loading it takes most of the time that an import of this package
 * would take.
 */
export const prepareHmac: PrepareHmac = (key) => {
  const { createHmac, createSecretKey, hash } = nodeCrypto();
  const secret = createSecretKey(key);
  const inner = padded(key, 0x36);
  const outer = Buffer.concat([padded(key, 0x5c), new Uint8Array(DIGEST_BYTES)]);

  return (prefix, body, encoding = 'hex') => {
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    const bound = BLOCK_BYTES + 3 * prefix.length + (typeof body === 'string' ? 3 * body.length : body.length);
    if (bound > scratch.length) return createHmac('sha256', secret).update(prefix).update(body).digest(encoding);
    scratch.set(inner);
    let end = BLOCK_BYTES + scratch.write(prefix, BLOCK_BYTES, 'utf8');
    if (typeof body === 'string') end += scratch.write(body, end, 'utf8');
    else {
      scratch.set(body, end);
      end += body.length;
    }
    outer.write(hash('sha256', scratch.subarray(0, end), 'hex'), BLOCK_BYTES, 'hex');
    return hash('sha256', outer, encoding);
  };
};

/** Computes the SHA-256 of a text, in hexadecimal. */
export function sha256Hex(text: string): string {
  return nodeCrypto().hash('sha256', text, 'hex');
}

function nodeCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/**
 * The memory of all keys, which hashing may share because it is synchronous. A longer message costs more to copy than
 * it saves.
 */
const scratch = Buffer.allocUnsafeSlow(32 * 1024);

function padded(key: Uint8Array, pad: number): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? Buffer.from(nodeCrypto().hash('sha256', key, 'hex'), 'hex') : key);
  return block.map((byte) => byte ^ pad);
}
