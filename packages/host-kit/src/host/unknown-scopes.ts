import { HOST_SCOPES } from '../host-scopes.ts';
import type { Mount } from '../mounts/mount.ts';
import type { LogRecord } from '../ports/log.ts';
import { scopeFault } from '../scope-fault.ts';
import type { Services } from './services.ts';

/**
 * Returns a warning for each scope that the configured keys give and that opens nothing: it has no effect, and a caller
 * would learn that from a 403.
 */
export function unknownScopes(
  { authenticate, ownScopes = [] }: Pick<Services, 'authenticate' | 'ownScopes'>,
  mounts: readonly Pick<Mount, 'routes'>[],
): readonly LogRecord[] {
  const ofMounts = mounts.flatMap(({ routes }) => routes.flatMap(({ scope }) => scope ?? []));
  const known = [...HOST_SCOPES, ...ofMounts, ...ownScopes];
  const granted = new Set(authenticate.flatMap((lane) => lane.grantedScopes?.() ?? []));
  return [...granted].flatMap((scope) => {
    const fault = scopeFault(scope, known);
    if (fault === undefined) return [];
    const message = `${fault.message} Name scopes of your own in authorization.ownScopes.`;
    return [{ level: 'warn', event: 'key.unknown-scope', scope, message }];
  });
}
