import type { Tenancy } from '@svc/auth';
import type { Run, RunStore } from '../ports/runs.ts';

export interface RunQuery {
  /** From here on, downwards; absent: from the newest. */
  readonly before: string | undefined;
  readonly limit: number;
  readonly workflowId: string | undefined;
  readonly status: string | undefined;
}

export interface RunPage {
  readonly runs: readonly Run[];
  /** Where the next page begins; absent: there is none. */
  readonly next?: string;
}

/**
 * The runs that a caller reaches, newest first. A filter that few runs pass is looked for in so many runs and no more: then the
 * page is short, and has a next one.
 *
 * @see Interface: Authorization rules
 */
export async function listRuns(runs: Pick<RunStore, 'list'>, tenancy: Tenancy, query: RunQuery): Promise<RunPage> {
  const { limit, workflowId, status } = query;
  const passes = (run: Run) =>
    (workflowId === undefined || run.workflowId === workflowId) && (status === undefined || run.status === status);
  const isFiltered = workflowId !== undefined || status !== undefined;
  const found: Run[] = [];
  let { before } = query;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += LOOK_AT) {
    // One more than is shown tells whether there is another page.
    const asked = isFiltered ? LOOK_AT : limit + 1;
    const page = await runs.list(tenancy, { before, limit: asked });
    for (const run of page) {
      if (passes(run) && found.length === limit) return { runs: found, ...(before !== undefined && { next: before }) };
      if (passes(run)) found.push(run);
      before = run.runId;
    }
    if (page.length < asked) return { runs: found };
  }
  return { runs: found, ...(before !== undefined && { next: before }) };
}

const LOOK_AT = 250;
const MOST_LOOKED_AT = 5000;
