import type { AuthError, Authenticator } from '@svc/auth';
import type { ByMajor } from './description.ts';

/** Who may call an operation. */
export type Access =
  /** Everybody, and nobody is asked who they are. */
  | 'public'
  /** Whoever has a valid credential. */
  | 'any-credential'
  /** Whoever holds a scope, or two. */
  | { readonly scope: string; readonly alsoScope?: string }
  /** Whoever knows the path, because a part of it is the credential. */
  | PathCredential;

export interface PathCredential {
  readonly authenticator: Authenticator;
  /** How a major says that the credential does not hold. */
  readonly refused: ByMajor<(error: AuthError) => Error>;
}

export function isPathCredential(access: Access): access is PathCredential {
  return typeof access === 'object' && 'authenticator' in access;
}

/** Whether the caller sends a credential of its own. */
export function takesCredential(access: Access): boolean {
  return access !== 'public' && !isPathCredential(access);
}

/** All that a caller must hold. */
export function scopesOf(access: Access): readonly string[] {
  if (typeof access !== 'object' || isPathCredential(access)) return [];
  const { scope, alsoScope } = access;
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}
