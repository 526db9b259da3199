import type { AuditEntry } from '../data/shapes.ts';

/** Says what an entry of the audit log records. */
export function auditSentence({ action, details }: Pick<AuditEntry, 'action' | 'details'>): {
  readonly text: string;
  readonly isRefused: boolean;
} {
  const { operation, method, path, status, reason, allowed, code } = details;
  const isRefused = allowed === false || action.endsWith('.refused') || status === 401 || status === 403;
  if (action !== 'request') {
    const because = isRefused ? (reason ?? code) : undefined;
    return { text: because === undefined || because === null ? action : `${action}: ${because}`, isRefused };
  }
  const name = typeof operation === 'string' ? operation : [method, path].filter((part) => part !== null).join(' ');
  const outcome = [status, isRefused ? reason : undefined]
    .filter((part) => part !== undefined && part !== null)
    .join(', ');
  return { text: outcome === '' ? name : `${name} (${outcome})`, isRefused };
}
