/** A proof to be recorded. */
export interface ProofClaim {
  /** See `ReplayStore.claim`. */
  readonly id: string;
  /** A whole number of milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Checks a claim, so that an invalid one fails alone instead of its whole batch. */
export function checkedClaim(id: string, expiresAt: number): ProofClaim {
  if (!/^[0-9a-f]{64}$/.test(id)) throw new TypeError('claim: id must have 64 hexadecimal digits in lower case.');
  const whole = Math.ceil(expiresAt);
  if (!Number.isSafeInteger(whole)) throw new TypeError('claim: expiresAt must be milliseconds since the epoch.');
  return { id, expiresAt: whole };
}
