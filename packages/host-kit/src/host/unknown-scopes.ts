import { grants } from '@svc/auth';
import { HOST_SCOPES } from '../host-scopes.ts';
import type { Mount } from '../mounts/mount.ts';
import { nearestOf } from '../nearest.ts';
import type { HostOptions } from '../options.ts';
import type { LogRecord } from '../ports/log.ts';

/**
 * Returns a warning for each scope that the configured keys give and that opens nothing: it has no effect, and a caller
 * would learn that from a 403.
 */
export function unknownScopes(
  { authenticate, ownScopes = [] }: Pick<HostOptions, 'authenticate' | 'ownScopes'>,
  mounts: readonly Pick<Mount, 'routes'>[],
): readonly LogRecord[] {
  const ofMounts = mounts.flatMap(({ routes }) => routes.flatMap(({ scope }) => scope ?? []));
  const known = [...HOST_SCOPES, ...ofMounts, ...ownScopes];
  const granted = new Set(authenticate.flatMap((lane) => lane.grantedScopes?.() ?? []));
  return [...granted]
    .filter((scope) => !known.some((name) => grants([scope], name)))
    .map((scope) => ({ level: 'warn', event: 'key.unknown-scope', scope, message: faultOf(scope, known) }));
}

/** A wildcard is compared with wildcards: the nearest scope of a misspelt one would have lesser rights. */
function faultOf(scope: string, known: readonly string[]): string {
  const isWildcard = scope.includes('*');
  const nearest = nearestOf(scope, isWildcard ? wildcardsOver(known) : known);
  return `${scope}: ${isWildcard ? 'covers' : 'is'} no scope. Did you mean ${nearest}? Name scopes of your own in ownScopes.`;
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
