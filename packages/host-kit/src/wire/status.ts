import { z } from 'zod';
import type { HealthReport } from '../health/health.ts';
import type { JsonObject } from '../json.ts';
import type { Backlog } from '../ports/backlog.ts';
import { BACKLOG_COUNTED } from '../webhooks/backlog.ts';

const COUNT = z.int().min(0);

/** The schema of the status of a host. */
export const hostStatus: z.ZodType = z
  .object({
    ready: z.boolean(),
    checks: z.array(
      z.object({
        name: z.enum(['lifecycle', 'store', 'deliveries']),
        ok: z.boolean(),
        reason: z.string().optional().describe('The cause of a failed check.'),
      }),
    ),
    clockAheadMs: z
      .int()
      .optional()
      .describe(
        'Time by which the clock of this host is ahead of that of its database; negative when it is behind. Absent for a store without a clock of its own.',
      ),
    deliveries: z
      .object({
        due: COUNT.describe('Deliveries that are due, counted up to `countedUpTo`.'),
        countedUpTo: COUNT,
        oldestDueAt: z.iso.datetime().optional(),
        oldestDueForMs: COUNT.optional(),
      })
      .optional()
      .describe('The backlog of the subscriptions of the caller. Absent when the store did not respond.'),
  })
  .meta({ id: 'HostStatus' });

/** The readings beside the checks. */
export interface StatusReadings {
  /** Undefined: the store did not respond. */
  readonly backlog: Backlog | undefined;
  /** The time of the store, in ms since the epoch. */
  readonly now: number;
  /** Undefined: the store has no clock of its own, or did not respond. */
  readonly clockAheadMs: number | undefined;
}

/**
 * The status of a host for an operator: its readiness checks, and the backlog of deliveries for the operator's tenant.
 * The backlog is absent when the store did not respond.
 */
export function statusView(
  { ready, checks }: HealthReport,
  { backlog, now, clockAheadMs }: StatusReadings,
): JsonObject {
  return {
    ready,
    checks: checks.map(({ name, ok, reason }) => ({ name, ok, ...(reason !== undefined && { reason }) })),
    ...(clockAheadMs !== undefined && { clockAheadMs: Math.round(clockAheadMs) }),
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
