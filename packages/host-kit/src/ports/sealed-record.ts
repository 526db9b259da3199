/** A secret that a database stores encrypted (`sealing/secret-box.ts`). */
export interface SealedRecord {
  /** The encrypted secret. */
  readonly sealed: Uint8Array;
  /** The context that it is bound to: with another one it does not open. */
  readonly boundTo: string;
}
