/** Stores used proofs. Several machines must share one store; otherwise each of them accepts a proof once. */
export interface ReplayStore {
  /**
   * Records a proof. Returns true when it was not recorded before. When it cannot record the proof it must throw or
   * return false.
   *
   * @param id 64 hexadecimal digits
   * @param expiresAt milliseconds since the epoch. The proof is too old after it, so the store may forget it.
   */
  claim(id: string, expiresAt: number): boolean | Promise<boolean>;
}
