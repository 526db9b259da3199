import type { Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import { matchesEtag } from '../http/conditional.ts';
import { type AuthorizedCall, type Route, route, routeWithBody } from '../http/route.ts';
import { type CreateRunOptions, createRun } from '../runs/create.ts';
import type { Executor } from '../runs/executor.ts';
import { createdBody, runRequest, snapshotBody } from '../wire/run.ts';

export interface RunRoutesOptions extends CreateRunOptions {
  readonly executor: Pick<Executor, 'execute'>;
  readonly served: Pick<Served, 'overlap'>;
}

export function runRoutes(options: RunRoutesOptions): Route[] {
  const { store, executor, served } = options;

  return [
    routeWithBody({
      operationId: 'createRun',
      scope: 'runs:create',
      schema: runRequest,
      async serve({ major, principal, decided }, request) {
        const run = await createRun(options, principal, request);
        executor.execute(run, decided && { type: 'authorization.decided', payload: { ...decided } });
        return { status: 201, body: createdBody(major, run) };
      },
    }),
    route({
      operationId: 'readRun',
      scope: 'runs:read',
      async serve(call) {
        const { major, principal, headers } = call;
        const lookup = await store.runs.read(principal.tenancy, idIn(call));
        if (lookup.kind === 'absent') throw new HostError('not_found', 'There is no such run.', { details: undefined });
        if (lookup.kind === 'other-workspace') {
          const message = 'The run belongs to a workspace that this credential does not reach.';
          throw new HostError('run_forbidden', message, { details: undefined });
        }
        const run = lookup.value;
        // Every observable change of a run comes with an event.
        const etag = `"${run.runId}.${run.lastSequence}.${major}"`;
        if (matchesEtag(headers.get('if-none-match'), etag)) return { status: 304, headers: { etag, ...PRIVATE } };
        return { status: 200, headers: { etag, ...PRIVATE }, body: snapshotBody(major, run) };
      },
    }),
  ];

  function idIn({ major, params, principal }: AuthorizedCall): string {
    const resolved = resolveId(params.runId ?? '', {
      tenant: principal.tenancy.tenant,
      major,
      overlap: served.overlap,
    });
    if (!resolved.ok) throw resolved.error;
    return resolved.id;
  }
}

const PRIVATE = { 'cache-control': 'private, no-cache' };
