/** The number of bits of a status. */
export type StatusSize = 1 | 2 | 4 | 8;

/** Returns whether a value is a number of bits that the specification allows. */
export function isStatusSize(value: unknown): value is StatusSize {
  return value === 1 || value === 2 || value === 4 || value === 8;
}

/**
 * Reads one status of a list. The statuses of a byte begin at its least significant bit.
 *
 * @returns undefined for an index behind the end of the list
 * @see draft-ietf-oauth-status-list, section 4.1
 */
export function statusAt(bytes: Uint8Array, bits: StatusSize, index: number): number | undefined {
  const perByte = 8 / bits;
  // Not by shifts: they would cut an index of more than 32 bits, which then names another token.
  const byte = bytes[Math.floor(index / perByte)];
  return byte === undefined ? undefined : (byte >> ((index % perByte) * bits)) & (2 ** bits - 1);
}
