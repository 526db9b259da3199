import type { HealthReport } from '../health/health.ts';
import type { JsonObject } from '../json.ts';
import type { Backlog } from '../ports/backlog.ts';
import { BACKLOG_COUNTED } from '../webhooks/backlog.ts';

/**
 * A host as an operator sees it: why it is not ready, and how far it is behind with what it delivers for the operator's tenant, if its store
 * could be asked.
 */
export function statusView({ ready, checks }: HealthReport, backlog: Backlog | undefined, now: number): JsonObject {
  return {
    ready,
    checks: checks.map(({ name, ok, reason }) => ({ name, ok, ...(reason !== undefined && { reason }) })),
    ...(backlog !== undefined && { deliveries: backlogView(backlog, now) }),
  };
}

function backlogView({ due, oldestDueAt }: Backlog, now: number): JsonObject {
  return {
    due,
    countedUpTo: BACKLOG_COUNTED,
    ...(oldestDueAt !== undefined && {
      oldestDueAt: new Date(oldestDueAt).toISOString(),
      oldestDueForMs: Math.max(0, now - oldestDueAt),
    }),
  };
}
