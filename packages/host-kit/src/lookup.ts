/**
 * What a store answers when a caller asks for something by its id. `absent` covers what does not exist, what another tenant
 * owns and what belongs to the other of live and test, so that none of them can be told apart.
 *
 * @see Interface: Authorization rules
 */
export type Lookup<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'other-workspace' }
  | { readonly kind: 'absent' };

export const ABSENT: { readonly kind: 'absent' } = { kind: 'absent' };
export const OTHER_WORKSPACE: { readonly kind: 'other-workspace' } = { kind: 'other-workspace' };
