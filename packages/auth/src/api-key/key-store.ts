/** A key as it is stored: everything but the key itself. */
export interface ApiKeyRecord {
  readonly id: string;
  /** Lower-case hexadecimal SHA-256 of the key. */
  readonly hash: string;
  readonly tenant: string;
  readonly workspaces: 'all' | readonly string[];
  /** Opaque, never personal data. */
  readonly principal: string;
  readonly principalKind?: 'user' | 'agent';
  readonly scopes: readonly string[];
  readonly mode: 'live' | 'test';
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}

export interface KeyStore {
  /**
   * Every record that may be the one of this hash. What is returned is compared in constant time; a store may find it by any
   * part of the hash.
   */
  candidates(hash: string): readonly ApiKeyRecord[] | Promise<readonly ApiKeyRecord[]>;
}
