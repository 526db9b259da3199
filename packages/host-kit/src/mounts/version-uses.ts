import type { Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { HostError, invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountCall, type MountRoute, mountRoute } from '../http/route.ts';
import type { Store } from '../ports/store.ts';
import type { CallerName } from '../ports/version-uses.ts';
import type { UseCounter } from '../versions/use-counter.ts';
import {
  callerCursor,
  callerPage,
  callerView,
  parseCallerCursor,
  versionDays,
  versionDayView,
} from '../wire/version-uses.ts';
import { LIMIT, ok, PRIVATE, pageLimit } from './owned-webhook.ts';
import { requireNames } from './query-names.ts';

export interface VersionUseRoutesOptions {
  readonly store: Pick<Store, 'versionUses'>;
  readonly uses: Pick<UseCounter, 'lost'>;
}

/**
 * The routes under `/host/<org>/versions`: the credentials of the caller's tenant and mode by the majors that they use. They
 * need the scope `audit:read`, which reads the requests of all callers of the tenant, and a credential for all workspaces.
 */
export function versionUseRoutes(options: VersionUseRoutesOptions): MountRoute[] {
  return [callers(options), days(options)];
}

const SCOPE = 'audit:read';

function callers({ store, uses }: VersionUseRoutesOptions): MountRoute {
  return mountRoute({
    method: 'GET',
    path: '/versions/callers',
    scope: SCOPE,
    describes: {
      operationId: 'listVersionCallers',
      summary: 'List the callers of a major',
      description:
        'The credentials that sent requests of a major, with their requests under each one, in the order of lanes and ids. ' +
        'A request outside of the protocol, such as this one, counts for no major; the twin of such a path under `/v1` ' +
        'counts for major 1. Requests appear within 10 s.',
      query: {
        major: z
          .union([z.literal(1), z.literal(2)])
          .default(1)
          .describe('Credentials with requests of this major.'),
        since: SINCE,
        limit: LIMIT,
        after: z.string().optional().describe('The `nextAfter` of the previous page.'),
      },
      answers: { 200: json('A page of callers.', callerPage, PRIVATE) },
    },
    async serve({ principal, query }) {
      requireWholeTenant(principal);
      requireNames(query, ['major', 'since', 'limit', 'after']);
      const limit = pageLimit(query);
      const found = await store.versionUses.callers(principal.tenancy, {
        major: majorIn(query),
        since: sinceIn(query),
        after: afterIn(query),
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = found.length > limit && last !== undefined;
      return ok({
        callers: page.map(callerView),
        isComplete: uses.lost() === 0,
        ...(more && { nextAfter: callerCursor(last) }),
      });
    },
  });
}

function days({ store, uses }: VersionUseRoutesOptions): MountRoute {
  return mountRoute({
    method: 'GET',
    path: '/versions/days',
    scope: SCOPE,
    describes: {
      operationId: 'readVersionDays',
      summary: 'Read the requests of each major by day',
      description:
        'The requests of all credentials. Days are kept for 90 days by default. A day without a request is left out.',
      query: { since: SINCE },
      answers: { 200: json('The days.', versionDays, PRIVATE) },
    },
    async serve({ principal, query }) {
      requireWholeTenant(principal);
      requireNames(query, ['since']);
      const found = await store.versionUses.days(principal.tenancy, sinceIn(query));
      return ok({ days: found.map(versionDayView), isComplete: uses.lost() === 0 });
    },
  });
}

const SINCE = z.iso
  .date()
  .optional()
  .describe('Counts requests of this day, in UTC, and of later days. Default: all that are kept.');

/**
 * Requires a caller for all workspaces: counts belong to credentials, and not to workspaces.
 *
 * @throws {HostError} `forbidden`
 */
function requireWholeTenant({ tenancy }: Principal): void {
  if (tenancy.workspaces === 'all') return;
  const message = 'Callers are counted for the whole tenant. Use a credential for all workspaces.';
  throw new HostError('forbidden', message, { details: undefined });
}

type Query = MountCall['query'];

function majorIn(query: Query): Major {
  const text = onceIn(query, 'major') ?? '1';
  if (text === '1') return 1;
  if (text === '2') return 2;
  throw invalid({ field: 'query.major', problem: 'must be 1 or 2' });
}

function sinceIn(query: Query): number {
  const text = onceIn(query, 'since');
  if (text === undefined) return 0;
  const day = z.iso.date().safeParse(text);
  if (!day.success) throw invalid({ field: 'query.since', problem: 'must be a day such as 2026-01-31' });
  return Math.max(0, Date.parse(`${day.data}T00:00:00Z`));
}

function afterIn(query: Query): CallerName | undefined {
  const text = onceIn(query, 'after');
  if (text === undefined || text === '') return undefined;
  const after = parseCallerCursor(text);
  if (after === undefined) throw invalid({ field: 'query.after', problem: 'must be the nextAfter of a page' });
  return after;
}

function onceIn(query: Query, name: string): string | undefined {
  const [text, ...others] = query.getAll(name);
  if (others.length > 0) throw invalid({ field: `query.${name}`, problem: 'must be given once' });
  return text;
}
