import { HostError, invalid } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import { isSecretName } from '../ports/byok.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';

export interface CheckConfigurableOptions {
  readonly store: Pick<Store, 'byok'>;
  readonly engine: Pick<WorkflowEngine, 'configurable'>;
  /** In ms. Absent: no limit. */
  readonly maxRunDurationMs?: number | undefined;
}

/**
 * Checks the options of a run before it is created.
 *
 * @throws {HostError} `validation_error` when `runTimeoutMs` exceeds the longest duration of a run; and, if the engine
 * understands `ai`, `mock_provider_forbidden` for a simulated provider in live mode and `credential_forbidden` for a
 * credential that is no secret of the tenant
 */
export async function checkConfigurable(
  { store, engine, maxRunDurationMs = Number.POSITIVE_INFINITY }: CheckConfigurableOptions,
  { configurable, tenant, workspace, mode }: Pick<Run, 'configurable' | 'tenant' | 'workspace' | 'mode'>,
): Promise<void> {
  const limits = configurable?.run;
  const timeout = isJsonObject(limits) ? limits.runTimeoutMs : undefined;
  if (typeof timeout === 'number' && timeout > maxRunDurationMs) {
    throw invalid({ field: 'configurable.run.runTimeoutMs', problem: `must be at most ${maxRunDurationMs}` });
  }
  const ai = configurable?.ai;
  if (engine.configurable?.includes('ai') !== true || !isJsonObject(ai)) return;
  if (ai.mockProvider !== undefined && mode !== 'test') {
    const message = 'Only a test key may choose a mockProvider. Leave it out, or use a test key.';
    throw new HostError('mock_provider_forbidden', message, { details: undefined });
  }
  const { credentialRef } = ai;
  if (credentialRef === undefined) return;
  const places = [...(workspace === undefined ? [] : [{ tenant, workspace, mode }]), { tenant, mode }];
  for (const place of places) {
    if (typeof credentialRef !== 'string' || !isSecretName(credentialRef)) break;
    if ((await store.byok.find(place, credentialRef)) !== undefined) return;
  }
  const message = 'credentialRef must be the name of a secret of this tenant. Store it under byok/secrets first.';
  throw new HostError('credential_forbidden', message, { details: undefined });
}
