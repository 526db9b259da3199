import type { CryptoKey } from 'jose';
import type { Algorithm } from '../jwt/algorithms.ts';
import { importPublic } from '../jwt/key-set.ts';
import type { JsonObject } from '../jwt/strict-json.ts';

/** The public key in the header of a proof. */
export interface ProofKey {
  readonly algorithm: Algorithm;
  readonly jwk: JsonObject;
  /** The thumbprint of `jwk`, by which the key is known. */
  readonly thumbprint: string;
}

/**
 * Caches imported keys: an import costs as much as a verification, and a client keeps its key. A full cache is emptied,
 * because strangers may send any number of keys.
 */
export class ImportedKeys {
  readonly #max: number;
  readonly #known = new Map<string, CryptoKey>();

  constructor(max: number = MAX_KEYS) {
    this.#max = max;
  }

  /** Rejects for a JWK that is not a valid public key of its algorithm. */
  async import({ jwk, algorithm, thumbprint }: ProofKey): Promise<CryptoKey> {
    const name = `${algorithm} ${thumbprint}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const key = await importPublic(jwk, algorithm);
    if (this.#known.size >= this.#max) this.#known.clear();
    this.#known.set(name, key);
    return key;
  }
}

const MAX_KEYS = 10_000;
