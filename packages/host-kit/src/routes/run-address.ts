import type { Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import type { AuthorizedCall } from '../http/route.ts';
import type { Run, RunStore } from '../ports/runs.ts';
import { foundRun } from '../runs/find-run.ts';

export interface RunAddressOptions {
  readonly store: { readonly runs: Pick<RunStore, 'read'> };
  readonly served: Pick<Served, 'overlap'>;
}

/**
 * The run that a call names, if its caller reaches it.
 *
 * @throws {HostError} `not_found`, `run_forbidden`
 * @throws {VersioningError} `id_tenant_mismatch` before any lookup, `validation_error` for what is no id
 */
export async function addressedRun({ store, served }: RunAddressOptions, call: AuthorizedCall): Promise<Run> {
  return foundRun(await store.runs.read(call.principal.tenancy, runIdIn(served, call)));
}

/** The bare id of the run that a call names in its path. Throws as `addressedRun`, but for the lookup. */
export function runIdIn(served: Pick<Served, 'overlap'>, call: AuthorizedCall): string {
  return bareRunId(served, call, call.params.runId ?? '');
}

/** The bare id of a run that is named as in a path: percent-encoded. */
export function bareRunId(
  { overlap }: Pick<Served, 'overlap'>,
  { major, principal }: AuthorizedCall,
  segment: string,
): string {
  const resolved = resolveId(segment, { tenant: principal.tenancy.tenant, major, overlap });
  if (!resolved.ok) throw resolved.error;
  return resolved.id;
}
