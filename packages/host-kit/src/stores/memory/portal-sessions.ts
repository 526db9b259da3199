import type { Tenancy } from '@svc/auth';
import { DIGEST_INDEXED, type PortalSession, type PortalSessionStore } from '../../ports/portal-sessions.ts';
import { type Journal, put } from './journal.ts';

export function portalSessionStore(journal: Journal): PortalSessionStore {
  const sessions = new Map<string, PortalSession>();
  const unexchanged = (sessionId: string) => {
    const session = sessions.get(sessionId);
    return session?.revokedAt === undefined && session?.exchangedAt === undefined ? session : undefined;
  };

  return {
    async insert(session, transaction) {
      put(journal, transaction, sessions, session.sessionId, session);
    },
    countOpen: async ({ tenant, mode }, now) =>
      [...sessions.values()].filter(
        ({ tenancy, expiresAt, revokedAt }) =>
          tenancy.tenant === tenant && tenancy.mode === mode && expiresAt > now && revokedAt === undefined,
      ).length,
    async find(tenancy, sessionId) {
      const session = sessions.get(sessionId);
      return session !== undefined && isReached(tenancy, session) ? session : undefined;
    },
    list: async (tenancy, { before, limit }) =>
      [...sessions.values()]
        .filter((session) => isReached(tenancy, session) && (before === undefined || session.sessionId < before))
        .sort((a, b) => (a.sessionId < b.sessionId ? 1 : -1))
        .slice(0, limit),
    async candidates(kind, digest) {
      const lookup = digest.slice(0, DIGEST_INDEXED);
      return [...sessions.values()].filter(({ codeDigest, tokenDigest }) =>
        (kind === 'code' ? codeDigest : tokenDigest)?.startsWith(lookup),
      );
    },
    async exchange(sessionId, { tokenDigest, at }, transaction) {
      const session = unexchanged(sessionId);
      if (session === undefined) return false;
      put(journal, transaction, sessions, sessionId, { ...session, tokenDigest, exchangedAt: at });
      return true;
    },
    async revoke(sessionId, at, transaction) {
      const session = sessions.get(sessionId);
      if (session === undefined || session.revokedAt !== undefined) return false;
      put(journal, transaction, sessions, sessionId, { ...session, revokedAt: at });
      return true;
    },
    sweep: (before, limit) =>
      journal.transaction(async (transaction) => {
        const ended = [...sessions.values()].filter(({ expiresAt }) => expiresAt < before).slice(0, limit);
        for (const { sessionId } of ended) put(journal, transaction, sessions, sessionId, undefined);
        return ended.length;
      }),
  };
}

function isReached({ tenant, mode, workspaces: reach }: Tenancy, { tenancy }: PortalSession): boolean {
  if (tenancy.tenant !== tenant || tenancy.mode !== mode) return false;
  if (reach === 'all') return true;
  return tenancy.workspaces !== 'all' && tenancy.workspaces.every((workspace) => reach.includes(workspace));
}
