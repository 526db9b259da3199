import type { Tenancy } from '@svc/auth';
import type { Run, RunStore } from '../ports/runs.ts';

/** A page of a list of runs, and its filters. */
export interface RunQuery {
  /** Lists runs older than this run id only. Undefined: from the newest. */
  readonly before: string | undefined;
  readonly limit: number;
  readonly workflowId: string | undefined;
  readonly status: string | undefined;
  /** A further condition. Default: none. */
  readonly also?: ((run: Run) => boolean) | undefined;
}

/** A page of runs. */
export interface RunPage {
  readonly runs: readonly Run[];
  /** The `before` of the next page; absent on the last page. */
  readonly next?: string;
}

/**
 * Lists the runs that a caller reaches, newest first. A filtered page examines 5 000 runs at most; if few of them
 * match, the page is short and has a `next`.
 *
 * @see Interface: Authorization rules
 */
export async function listRuns(runs: Pick<RunStore, 'list'>, tenancy: Tenancy, query: RunQuery): Promise<RunPage> {
  const { limit, workflowId, status, also } = query;
  const passes = (run: Run) =>
    (workflowId === undefined || run.workflowId === workflowId) &&
    (status === undefined || run.status === status) &&
    (also === undefined || also(run));
  const isFiltered = workflowId !== undefined || status !== undefined || also !== undefined;
  const found: Run[] = [];
  let { before } = query;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += LOOK_AT) {
    // One more run than the page holds shows that there is another page.
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
