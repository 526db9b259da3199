import type { HealthReport } from '../health/health.ts';
import type { JsonObject } from '../json.ts';
import type { Backlog } from '../ports/backlog.ts';
import { BACKLOG_COUNTED } from '../webhooks/backlog.ts';

/**
 * The status of a host for an operator: its readiness checks, and the backlog of deliveries for the operator's tenant.
 * The backlog is absent when the store did not respond.
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
