/** Carries a delegation proof, beside the caller's own credential. */
export const DELEGATION_HEADER = 'svc-delegation';
