import type { Tenancy } from '@svc/auth';
import type { HealthReport } from '../health/health.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import type { Backlog } from '../ports/backlog.ts';
import type { Clock } from '../ports/clock.ts';
import { statusView } from '../wire/status.ts';

export interface StatusRoutesOptions {
  readonly clock: Clock;
  readonly health: () => Promise<HealthReport>;
  /** Of the subscriptions that a caller manages. */
  readonly backlogOf: (tenancy: Tenancy, now: number) => Promise<Backlog>;
}

/** How the host is, and what waits for the subscriptions that the caller manages. */
export function statusRoutes({ clock, health, backlogOf }: StatusRoutesOptions): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/status',
      scope: 'webhooks:manage',
      async serve({ principal }) {
        const now = clock.now();
        const report = await health();
        // A status is asked for when something is wrong: it must not wait for a store that does not answer.
        const isAnswering = report.checks.some(({ name, ok }) => name === 'store' && ok);
        const backlog = isAnswering ? await backlogOf(principal.tenancy, now).catch(() => undefined) : undefined;
        const headers = { 'cache-control': 'private, no-store' };
        return { status: 200, headers, body: statusView(report, backlog, now) };
      },
    }),
  ];
}
