/**
 * The answer of a store to a caller that asks for a record by its id. `absent` covers three cases that a caller must
 * not be able to tell apart: the record does not exist, another tenant owns it, or it belongs to the other of live and
 * test.
 *
 * @see Interface: Authorization rules
 */
export type Lookup<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'other-workspace' }
  | { readonly kind: 'absent' };

export const ABSENT: { readonly kind: 'absent' } = { kind: 'absent' };
export const OTHER_WORKSPACE: { readonly kind: 'other-workspace' } = { kind: 'other-workspace' };
