import type { Principal } from '@svc/auth';
import { EVENT_LOG_SCHEMA_VERSION } from '@svc/versioning/axes';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import { mintInOrder } from '../ids-in-order.ts';
import type { JsonObject } from '../json.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { ForkMode, Run, RunDefinition } from '../ports/runs.ts';
import { checkConfigurable } from './check-configurable.ts';
import { newCompensation } from './compensation.ts';
import type { CreateRunOptions } from './create.ts';
import { foundRun } from './find-run.ts';
import { requireMembership } from './membership.ts';

/** A request for a fork, the same for both majors. */
export interface ForkRequest {
  readonly mode: ForkMode;
  /** The first sequence that is not history: earlier events of the source's log are fixed. */
  readonly fromSeq: number;
  /** Members of a branch that replace or extend those of its source. */
  readonly overlay: Partial<Pick<RunDefinition, 'tags' | 'metadata' | 'configurable'>>;
}

/**
 * Creates a run from the history of another run. A replay repeats its source without effects. A branch runs on its own
 * from its fork point. A fork has the owner of its source.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `not_found`, `run_forbidden`, `fork_point_invalid` when the source's log has no event `fromSeq`,
 * `forbidden` when the host no longer has the workspace of the source
 */
export async function forkRun(
  options: CreateRunOptions,
  principal: Principal,
  sourceRunId: string,
  { mode, fromSeq, overlay }: ForkRequest,
  save: Save<Run> = saveNothing,
): Promise<Run> {
  const { store, engine, clock, random, recordAudit, singleTenant = false } = options;
  const source = foundRun(await store.runs.read(principal.tenancy, sourceRunId));
  if (fromSeq > source.lastSequence) {
    const newest = source.lastSequence;
    const message = `The log of the run has no event ${fromSeq}; its newest is ${newest}. Pass that or less.`;
    throw new HostError('fork_point_invalid', message, { details: undefined });
  }
  const { tenant, workspace, owner, workflowId, inputs, tags } = source;
  if (workspace !== undefined) requireMembership(options.hasWorkspace, principal, workspace);
  const configurable = merged(source.configurable, overlay.configurable);
  const metadata = merged(source.metadata, overlay.metadata);
  const run: Run = {
    runId: mintInOrder('run', clock, random),
    ...{ tenant, workflowId, inputs },
    ...(owner !== undefined && !singleTenant && { owner }),
    ...(workspace !== undefined && { workspace }),
    mode: source.mode,
    ...(configurable !== undefined && { configurable }),
    tags: overlay.tags ?? tags,
    ...(metadata !== undefined && { metadata }),
    fork: { sourceRunId, fromSeq, mode },
    engineVersion: engine.version,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    createdAt: clock.now(),
    status: 'pending',
    lastSequence: -1,
    ...newCompensation(engine),
  };
  await checkConfigurable(options, run);
  const fact = factAbout(principal, {
    action: 'run.fork',
    target: `${tenant}/${run.runId}`,
    at: run.createdAt,
    workspace: run.workspace,
    details: { source: sourceRunId, forkMode: mode, fromSeq },
  });
  await store.transaction(async (transaction) => {
    // Locks the source: it may have been removed since it was read, and is not removed from now on.
    foundRun(await store.runs.readForChange(principal.tenancy, sourceRunId, transaction));
    await store.runs.insert(run, transaction);
    await recordAudit(fact, transaction);
    await save(run, transaction);
  });
  return run;
}

function merged(had: JsonObject | undefined, given: JsonObject | undefined): JsonObject | undefined {
  return given === undefined ? had : { ...had, ...given };
}
