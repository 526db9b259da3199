import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type OptionNames, requireKnown } from '../known-options.ts';

/** Stores the salts of tenants. Readers of the hashes must not reach it. */
export interface SaltStore {
  /** Returns the salt of a tenant, or undefined. */
  get(tenant: string): Promise<Uint8Array | undefined>;
  /** Stores the first salt of a tenant. Returns the stored salt: another host may have stored one first. */
  create(tenant: string, salt: Uint8Array): Promise<Uint8Array>;
  /** Replaces the salt of a tenant. */
  replace(tenant: string, salt: Uint8Array): Promise<void>;
}

/** Hashes subjects with a salt per tenant. */
export interface SubjectHashes {
  /**
   * Returns the hash of a subject, 32 hexadecimal digits. It is the same in every fact until the tenant's salt is
   * rotated.
   */
  hash(tenant: string, subject: string): Promise<string>;
  /**
   * Replaces the salt of a tenant. Earlier hashes can no longer be linked to a subject, which meets a request for
   * deletion.
   */
  rotate(tenant: string): Promise<void>;
}

/** Options of `subjectHashes`. */
export interface SubjectHashesOptions {
  /** Stores the salts. */
  readonly salts: SaltStore;
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}

const SUBJECT_HASHES_OPTIONS: OptionNames<SubjectHashesOptions> = { salts: true, randomBytes: true };

/**
 * Makes hashes by which the facts about one subject can be found without naming it.
 *
 * @throws {TypeError} (from `hash` and `rotate`) when `randomBytes` returns another number of bytes
 * @example
 * const hashes = subjectHashes({ salts, randomBytes });
 * const details = { subject: await hashes.hash('acme', 'spiffe://acme.example/billing') };
 * @see Interface: Workload identity, Delegation rules, item 7
 */
export function subjectHashes(options: SubjectHashesOptions): SubjectHashes {
  requireKnown('subjectHashes', options, SUBJECT_HASHES_OPTIONS);
  const { salts, randomBytes } = options;
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

/**
 * Makes a salt store in memory. When the process ends, earlier hashes can no longer be linked to a subject.
 *
 * @example
 * const hashes = subjectHashes({ salts: memorySaltStore(), randomBytes });
 */
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
