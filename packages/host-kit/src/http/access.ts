import type { AuthError, Authenticator } from '@svc/auth';
import type { ByMajor } from './description.ts';

/** The callers that an operation accepts. */
export type Access =
  /** Any caller, without a credential. */
  | 'public'
  /** A caller with a valid credential. */
  | 'any-credential'
  /** A caller that holds one scope, or two. */
  | { readonly scope: string; readonly alsoScope?: string }
  /** A caller that knows the path, because a segment of it is the credential. */
  | PathCredential;

export interface PathCredential {
  readonly authenticator: Authenticator;
  /** The error of each major for a credential that is not valid. */
  readonly refused: ByMajor<(error: AuthError) => Error>;
}

export function isPathCredential(access: Access): access is PathCredential {
  return typeof access === 'object' && 'authenticator' in access;
}

/** Whether the caller sends a credential in a header. */
export function takesCredential(access: Access): boolean {
  return access !== 'public' && !isPathCredential(access);
}

/** Every scope that a caller must hold. */
export function scopesOf(access: Access): readonly string[] {
  if (typeof access !== 'object' || isPathCredential(access)) return [];
  const { scope, alsoScope } = access;
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}
