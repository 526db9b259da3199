/** The header of a delegation proof, sent beside the caller's own credential. */
export const DELEGATION_HEADER = 'svc-delegation';
