import type { Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import type { AuthorizedCall } from '../http/route.ts';
import type { Run } from '../runs/run.ts';
import type { RunStore } from '../runs/run-store.ts';

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
  const { major, params, principal } = call;
  const { tenant } = principal.tenancy;
  const resolved = resolveId(params.runId ?? '', { tenant, major, overlap: served.overlap });
  if (!resolved.ok) throw resolved.error;
  const lookup = await store.runs.read(principal.tenancy, resolved.id);
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'absent') throw new HostError('not_found', 'There is no such run.', { details: undefined });
  const message = 'The run belongs to a workspace that this credential does not reach.';
  throw new HostError('run_forbidden', message, { details: undefined });
}
