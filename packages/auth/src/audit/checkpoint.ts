import { base64ToBytes, bytesOfHex, bytesToBase64 } from './encoding.ts';

/** A signed statement of the entries since the previous checkpoint. */
export interface Checkpoint {
  /** Id of the checkpoint, 1 to 256 characters. */
  readonly checkpoint: string;
  /** Sequence number of the last covered entry. */
  readonly atSequence: number;
  /** Root of the Merkle tree of the covered hashes, in lower-case hexadecimal. */
  readonly merkleRoot: string;
  /** Ed25519 signature of the 32 bytes of the root, in base64. */
  readonly signature: string;
}

/** A checkpoint as it is stored outside of the log, with the hash that tells whether the log still contains its entry. */
export interface CheckpointRecord extends Checkpoint {
  /** Hash of the entry `atSequence`. */
  readonly hash: string;
  /** The signed note of the tree of all entries up to this one. Absent in copies of earlier versions. */
  readonly note?: string | undefined;
}

/** Signs checkpoints with an Ed25519 key. */
export interface CheckpointSigner {
  /** The public key in base64, 44 bytes of DER (SubjectPublicKeyInfo), as discovery publishes it. */
  readonly publicKey: string;
  /** Signs bytes. Returns a signature of 64 bytes. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

/**
 * Signs the root of the entries since the previous checkpoint.
 *
 * @example
 * const unsigned = { checkpoint: 'cp_1', atSequence: 1000, merkleRoot: tree.root() };
 * const checkpoint = await sealed(unsigned, signer);
 */
export async function sealed(unsigned: Omit<Checkpoint, 'signature'>, signer: CheckpointSigner): Promise<Checkpoint> {
  return { ...unsigned, signature: bytesToBase64(await signer.sign(bytesOfHex(unsigned.merkleRoot))) };
}

/**
 * Makes a signer from a private Ed25519 key. Use the key for checkpoints only.
 *
 * @param privateKey PKCS #8, in PEM or DER
 * @throws {TypeError} when `privateKey` is not such a key
 * @example
 * const signer = await ed25519Signer(await readFile('audit-key.pem', 'utf8'));
 */
export async function ed25519Signer(privateKey: string | Uint8Array): Promise<CheckpointSigner> {
  try {
    const der = typeof privateKey === 'string' ? derOfPem(privateKey) : privateKey;
    const key = await crypto.subtle.importKey('pkcs8', der.slice(), ED25519, true, ['sign']);
    const { x } = await crypto.subtle.exportKey('jwk', key);
    const raw = base64ToBytes((x ?? '').replaceAll('-', '+').replaceAll('_', '/'));
    return {
      publicKey: bytesToBase64(new Uint8Array([...SPKI_PREFIX, ...raw])),
      sign: async (bytes) => new Uint8Array(await crypto.subtle.sign(ED25519, key, bytes.slice())),
    };
  } catch (cause) {
    throw new TypeError(`${KEY_RULE} ${KEY_REMEDY}`, { cause });
  }
}

/**
 * Makes a function that returns whether one of the keys has signed a checkpoint. Pass several keys while a key is
 * replaced.
 *
 * @param publicKeys in base64 (SPKI), as `CheckpointSigner.publicKey`
 * @example
 * const isSigned = checkpointVerifier([signer.publicKey]);
 * await isSigned(checkpoint); // true
 */
export function checkpointVerifier(publicKeys: readonly string[]): (checkpoint: Checkpoint) => Promise<boolean> {
  const keys = publicKeys.map((key) =>
    crypto.subtle.importKey('spki', base64ToBytes(key).slice(), ED25519, false, ['verify']).catch(() => undefined),
  );
  return async ({ merkleRoot, signature }) => {
    if (!/^[0-9a-f]{64}$/.test(merkleRoot) || !/^[A-Za-z0-9+/]{86}==$/.test(signature)) return false;
    const [root, signed] = [bytesOfHex(merkleRoot).slice(), base64ToBytes(signature).slice()];
    for (const importing of keys) {
      const key = await importing;
      if (key !== undefined && (await crypto.subtle.verify(ED25519, key, signed, root))) return true;
    }
    return false;
  };
}

const ED25519 = 'Ed25519';

const KEY_RULE = 'ed25519Signer: privateKey must be an Ed25519 private key, PKCS #8 in PEM or DER.';
const KEY_REMEDY = 'Generate one with `openssl genpkey -algorithm ed25519`.';

/** The bytes before the 32 bytes of every Ed25519 public key. @see RFC 8410, section 4 */
const SPKI_PREFIX = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

function derOfPem(pem: string): Uint8Array {
  const [, base64] = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/.exec(pem) ?? [];
  if (base64 === undefined) throw new TypeError('privateKey must be one PEM block of the type PRIVATE KEY.');
  return base64ToBytes(base64.replace(/\s/g, ''));
}
