import { json } from '../http/description.ts';
import { type MountRoute, mountRoute } from '../http/route.ts';
import type { MirrorReport } from '../versions/mirror-report.ts';
import { mirrorReport, mirrorReportView } from '../wire/mirror-report.ts';
import { ok, PRIVATE } from './owned-webhook.ts';
import { requireNames } from './query-names.ts';

/**
 * The route `/host/<org>/versions/mirror`: the differences between the majors that this host found. It needs the scope
 * `audit:read`. The report belongs to the host, and names no tenant, no caller and no value.
 */
export function mirrorReportRoutes(report: Pick<MirrorReport, 'read'>): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/versions/mirror',
      scope: 'audit:read',
      describes: {
        operationId: 'readMirrorReport',
        summary: 'Read the differences between the majors',
        description:
          'The reads that this host answered in the other major again since its start, by operation, and the places in which ' +
          'the answers differed when both were read once more. Each host of a store has a report of its own.',
        answers: { 200: json('The report.', mirrorReport, PRIVATE) },
      },
      async serve({ query }) {
        requireNames(query, []);
        return ok(mirrorReportView(report));
      },
    }),
  ];
}
