/** Remembers the proofs that were used. On several machines they must share one, or each of them takes a proof once. */
export interface ReplayStore {
  /**
   * Notes a proof; true when it was not there yet. What cannot be noted must throw, or answer false.
   *
   * @param id 64 hexadecimal digits
   * @param expiresAt milliseconds since the epoch; after it the proof is too old anyway and can be forgotten
   */
  claim(id: string, expiresAt: number): boolean | Promise<boolean>;
}
