import type { Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import type { AuthorizedCall } from '../http/route.ts';
import type { Run, RunStore } from '../ports/runs.ts';
import { foundRun } from '../runs/find-run.ts';

/** The options of routes whose path names a run. */
export interface RunAddressOptions {
  readonly store: { readonly runs: Pick<RunStore, 'read'> };
  readonly served: Pick<Served, 'overlap'>;
}

/**
 * Finds the run that a call names in its path.
 *
 * @throws {HostError} `not_found`, `run_forbidden`
 * @throws {VersioningError} `id_tenant_mismatch` before any lookup, `validation_error` for a malformed id
 */
export async function addressedRun({ store, served }: RunAddressOptions, call: AuthorizedCall): Promise<Run> {
  return foundRun(await store.runs.read(call.principal.tenancy, runIdIn(served, call)));
}

/** Returns the bare id of the run that a call names in its path. Throws as `addressedRun`, without the lookup. */
export function runIdIn(served: Pick<Served, 'overlap'>, call: AuthorizedCall): string {
  return bareRunId(served, call, call.params.runId ?? '');
}

/** Returns the bare id of a run. `segment` is percent-encoded, as in a path. */
export function bareRunId(
  { overlap }: Pick<Served, 'overlap'>,
  { major, principal }: AuthorizedCall,
  segment: string,
): string {
  const resolved = resolveId(segment, { tenant: principal.tenancy.tenant, major, overlap });
  if (!resolved.ok) throw resolved.error;
  return resolved.id;
}
