import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Where the salts of tenants are kept. They must not be where the hashes are read. */
export interface SaltStore {
  get(tenant: string): Promise<Uint8Array | undefined>;
  /** Keeps a tenant's first salt, and answers the one that is kept: another host may have been first. */
  create(tenant: string, salt: Uint8Array): Promise<Uint8Array>;
  replace(tenant: string, salt: Uint8Array): Promise<void>;
}

export interface SubjectHashes {
  /** What stands for a subject in facts: the same in all of them, until the tenant's salt is rotated. */
  hash(tenant: string, subject: string): Promise<string>;
  /** Cuts every tie between earlier hashes of a tenant and anyone, which is how a request for deletion is met. */
  rotate(tenant: string): Promise<void>;
}

export interface SubjectHashesOptions {
  readonly salts: SaltStore;
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/**
 * Hashes by which facts about one subject can be found, without saying who it is.
 *
 * @example
 * const hashes = subjectHashes({ salts, randomBytes });
 * const details = { subject: await hashes.hash('acme', 'spiffe://acme.example/billing') };
 * @see Interface: Workload identity, Delegation rules, item 7
 */
export function subjectHashes({ salts, randomBytes }: SubjectHashesOptions): SubjectHashes {
  const freshSalt = (): Uint8Array => {
    const salt = randomBytes(SALT_BYTES);
    if (salt.length !== SALT_BYTES) throw new TypeError(`subjectHashes: randomBytes must return ${SALT_BYTES} bytes.`);
    return salt;
  };
  return {
    async hash(tenant, subject) {
      const salt = (await salts.get(tenant)) ?? (await salts.create(tenant, freshSalt()));
      return bytesToHex(hmac(sha256, salt, utf8ToBytes(subject))).slice(0, 32);
    },
    rotate: (tenant) => salts.replace(tenant, freshSalt()),
  };
}

const SALT_BYTES = 32;

/** Salts in memory: with the process every tie is cut. */
export function memorySaltStore(): SaltStore {
  const salts = new Map<string, Uint8Array>();
  return {
    get: async (tenant) => salts.get(tenant),
    async create(tenant, salt) {
      const kept = salts.get(tenant) ?? salt;
      salts.set(tenant, kept);
      return kept;
    },
    async replace(tenant, salt) {
      salts.set(tenant, salt);
    },
  };
}
