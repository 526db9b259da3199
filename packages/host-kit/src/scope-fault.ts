import { grants } from '@svc/auth';
import { nearestOf } from './nearest.ts';

/** A scope of a key that opens nothing. */
export interface ScopeFault {
  /** The known scope that is the most similar to it. */
  readonly nearest: string;
  /** A sentence that begins with the scope, and asks whether the nearest one was meant. */
  readonly message: string;
}

/** Judges a scope of a key. Returns undefined when it grants one of the known scopes. */
export function scopeFault(scope: string, known: readonly string[]): ScopeFault | undefined {
  if (known.some((name) => grants([scope], name))) return undefined;
  // A wildcard is compared with wildcards: the nearest scope of a misspelt one would have lesser rights.
  const isWildcard = scope.includes('*');
  const nearest = nearestOf(scope, isWildcard ? wildcardsOver(known) : known);
  return { nearest, message: `${scope}: ${isWildcard ? 'covers' : 'is'} no scope. Did you mean ${nearest}?` };
}

/** The wildcards that cover all scopes of one beginning, such as `runs:*`, or of one end, such as `*:read`. */
function wildcardsOver(scopes: readonly string[]): ReadonlySet<string> {
  return new Set(
    scopes.flatMap((scope) => {
      const segments = scope.split(':');
      return segments.map((_, at) => segments.map((segment, index) => (index === at ? '*' : segment)).join(':'));
    }),
  );
}
