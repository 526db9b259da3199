import { z } from 'zod';
import { RUN_LIST } from '../discovery/kit-families.ts';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { wholeNumberIn } from '../http/query.ts';
import { type AuthorizedCall, type Route, route } from '../http/route.ts';
import type { RunServices } from '../runs/change-run.ts';
import { listRuns } from '../runs/list.ts';
import { runStatus, snapshotBody } from '../wire/run.ts';
import { parseRunCursor, runCursorText, runPage } from '../wire/run-list.ts';

/** Defines the route that lists runs, in major 2. @see Interface: Authorization rules */
export function runListRoutes({ store }: Pick<RunServices, 'store'>): Route[] {
  return [
    route({
      operationId: 'listRuns',
      scope: 'runs:read',
      describes: {
        tag: 'Runs',
        summary: 'List runs',
        description: 'Newest first. A page may be shorter than `limit` and still have a next page.',
        query: {
          limit: z.int().min(1).optional().describe(`At most ${RUN_LIST.maxPageSize}, which is also the default.`),
          cursor: z.string().min(1).max(2048).optional().describe('The `nextCursor` of the previous page.'),
          workflowId: z.string().optional().describe('Lists runs of this workflow only.'),
          status: runStatus.optional().describe('Lists runs with this status only.'),
        },
        answers: { 200: json('A page of runs.', runPage, { headers: ['Cache-Control'] }) },
      },
      async serve(call) {
        const { major, principal, query } = call;
        const { tenancy } = principal;
        const limit = wholeNumberIn(query, 'limit', { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? RUN_LIST.maxPageSize;
        const { runs, next } = await listRuns(store.runs, tenancy, {
          limit: Math.min(limit, RUN_LIST.maxPageSize),
          before: cursorIn(call),
          workflowId: textIn(query, 'workflowId'),
          status: textIn(query, 'status'),
        });
        return {
          status: 200,
          headers: { 'cache-control': 'private, no-store' },
          body: {
            runs: runs.map((run) => snapshotBody(major, run)),
            ...(next !== undefined && { nextCursor: runCursorText(tenancy, next) }),
          },
        };
      },
    }),
  ];
}

function cursorIn({ query, principal }: AuthorizedCall): string | undefined {
  const text = textIn(query, 'cursor');
  if (text === undefined) return undefined;
  const before = parseRunCursor(text, principal.tenancy);
  if (before === undefined)
    throw invalid({ field: 'query.cursor', problem: 'must be the nextCursor of a page of runs' });
  return before;
}

/** @throws {HostError} `validation_error` for a repeated parameter */
function textIn(query: URLSearchParams, name: string): string | undefined {
  const [text, ...others] = query.getAll(name);
  if (others.length > 0) throw invalid({ field: `query.${name}`, problem: 'must be given once' });
  return text;
}
