import type { Tenancy } from '@svc/auth';
import type { HealthReport } from '../health/health.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import type { Backlog } from '../ports/backlog.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { hostStatus, statusView } from '../wire/status.ts';

/** The ports of {@link statusRoutes}. */
export interface StatusRoutesOptions {
  readonly storeClock: Pick<StoreClock, 'now' | 'aheadMs'>;
  readonly health: () => Promise<HealthReport>;
  /** Counts the due deliveries of the subscriptions in a tenancy. */
  readonly backlogOf: (tenancy: Tenancy, now: number) => Promise<Backlog>;
}

/** The route `/host/<org>/status`: the readiness of the host and the backlog of the caller's subscriptions. */
export function statusRoutes({ storeClock, health, backlogOf }: StatusRoutesOptions): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/status',
      scope: 'webhooks:manage',
      describes: {
        operationId: 'readHostStatus',
        summary: 'Read the status of the host',
        description: 'The readiness of the host with each check, and the backlog of deliveries for the caller.',
        answers: { 200: json('The status.', hostStatus, { headers: ['Cache-Control'] }) },
      },
      async serve({ principal }) {
        const now = storeClock.now();
        const report = await health();
        // Operators read the status when something is wrong. It must not hang on a store that does not respond.
        const isAnswering = report.checks.some(({ name, ok }) => name === 'store' && ok);
        const backlog = isAnswering ? await backlogOf(principal.tenancy, now).catch(() => undefined) : undefined;
        const headers = { 'cache-control': 'private, no-store' };
        return { status: 200, headers, body: statusView(report, { backlog, now, clockAheadMs: storeClock.aheadMs() }) };
      },
    }),
  ];
}
