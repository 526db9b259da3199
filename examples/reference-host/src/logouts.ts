import { type LogoutIssuer, logoutReceiver } from '@svc/auth/logout';
import { backChannelLogoutMount, type Log, type MountDefinition, type StoredAccess } from '@svc/host-kit';
import type { CallerRecords } from './caller-records.ts';
import type { Config } from './config.ts';
import { identityFetch } from './identity-fetch.ts';
import { keysIn } from './key-files.ts';

/** The parts with which logouts are received. */
interface LogoutParts {
  readonly access: StoredAccess;
  readonly records: Pick<CallerRecords, 'replays'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/** Returns the mount that receives the logouts of the issuers that send some. */
export function logouts(config: Config, { access, records, now, log }: LogoutParts): readonly MountDefinition[] {
  const given = config.oidc?.issuers ?? [];
  const issuers = given.flatMap(({ issuer, jwksUri, jwksFile, backChannelLogout: logout }): LogoutIssuer[] =>
    logout === undefined
      ? []
      : [
          {
            issuer,
            ...logout,
            ...(jwksUri !== undefined && { jwksUri }),
            ...(jwksFile !== undefined && { keys: keysIn(jwksFile) }),
          },
        ],
  );
  if (issuers.length === 0) return [];
  const receive = logoutReceiver({
    issuers,
    denyList: access,
    replays: records.replays,
    now,
    fetch: identityFetch(config),
    maxLifetimeSeconds: Math.max(...given.map(({ maxLifetimeSeconds = DAY_SECONDS }) => maxLifetimeSeconds)),
    timeoutMs: STORE_MS,
    onFailure(cause) {
      const error = cause instanceof Error ? cause.message : typeof cause;
      const message = 'A logout failed on this host. Its issuer was asked to send it again.';
      log({ level: 'error', event: 'logout.failed', message, error });
    },
  });
  return [backChannelLogoutMount({ receive })];
}

const DAY_SECONDS = 86_400;
/** A withdrawal waits for the lease of a lost host, which is 5 s. */
const STORE_MS = 10_000;
