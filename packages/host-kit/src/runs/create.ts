import type { Principal } from '@svc/auth';
import { EVENT_LOG_SCHEMA_VERSION } from '@svc/versioning/axes';
import type { OwnerRecord } from '@svc/versioning/projection';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import { mintInOrder } from '../ids-in-order.ts';
import type { JsonObject } from '../json.ts';
import type { VersionedEngine } from '../ports/engine.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { Run, RunTransport } from '../ports/runs.ts';
import { checkConfigurable } from './check-configurable.ts';
import { newCompensation } from './compensation.ts';
import { engineRefusal } from './engine-refusal.ts';
import { requireMembership } from './membership.ts';

/** A request for a run, the same for both majors. */
export interface RunRequest {
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** One of the caller's workspaces. Undefined or the caller's tenant: the caller's first workspace. */
  readonly scope: string | undefined;
  readonly configurable: JsonObject | undefined;
  readonly tags: readonly string[];
  readonly metadata: JsonObject | undefined;
  /** Default `rest`. */
  readonly transport?: RunTransport;
  /** The caller's own name for the run. */
  readonly scopeId?: string | undefined;
  /** The conversation that the run is a turn of. Set by mounts; requests on the wire have no such member. */
  readonly conversation?: string;
  /** True: rejected while another run of the same workspace and `scopeId` has not ended. Default: false. */
  readonly isOnlyOfScope?: boolean;
  /** The engine version to run with; test keys only. Default: the engine's current version. */
  readonly engineVersion?: number | undefined;
  /**
   * The id of the delivery that caused the run, recorded in `run.started`. Set by mounts; requests on the wire have no
   * such member.
   */
  readonly causationId?: string;
}

/** Thrown when another run of the same `scopeId` has not ended. */
export class RunActive extends Error {
  override readonly name = 'RunActive';
  /** The other run. */
  readonly run: Run;

  constructor(run: Run) {
    super('A run of this scopeId is active.');
    this.run = run;
  }
}

export interface CreateRunOptions extends ChangeServices {
  readonly engine: Pick<VersionedEngine, 'version' | 'otherVersions' | 'accepts' | 'configurable' | 'compensation'>;
  /** The longest duration of a run, in ms. Undefined: no limit. */
  readonly maxRunDurationMs: number | undefined;
  readonly random: Random;
  /** Returns true when the tenant has a workspace of that name. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** True: runs get no owner. Default: false. */
  readonly singleTenant?: boolean | undefined;
}

/**
 * Creates a run under the caller's identity. When it resolves, the run is durable.
 *
 * @param save is called in the transaction that inserts the run
 * @throws {HostError} as {@link checkConfigurable}; `validation_error` when the engine refuses the run or `causationId` is malformed, `forbidden`
 * when the caller does not reach the workspace or the host does not have it, `force_engine_version_forbidden` when a live key chooses the engine
 * version
 * @throws {RunActive} when another run of the same `scopeId` has not ended and `isOnlyOfScope` is set
 */
export async function createRun(
  options: CreateRunOptions,
  principal: Principal,
  request: RunRequest,
  save: Save<Run> = saveNothing,
): Promise<Run> {
  const { store, engine, clock, random, recordAudit, singleTenant = false } = options;
  const workspace = workspaceOf(options, principal, request.scope);
  const { causationId } = request;
  if (causationId !== undefined && !CAUSATION_ID.test(causationId)) {
    throw invalid({ field: 'causationId', problem: 'must be an id of 1 to 256 characters without white space' });
  }
  const refusal = engineRefusal(engine, request.workflowId, request.inputs);
  if (refusal !== undefined) throw invalid(refusal);

  const run: Run = {
    runId: mintInOrder('run', clock, random),
    tenant: principal.tenancy.tenant,
    ...(workspace !== undefined && { workspace }),
    mode: principal.tenancy.mode,
    workflowId: request.workflowId,
    status: 'pending',
    ...(!singleTenant && { owner: ownerOf(principal, workspace) }),
    inputs: request.inputs,
    ...(request.configurable !== undefined && { configurable: request.configurable }),
    tags: request.tags,
    ...(request.metadata !== undefined && { metadata: request.metadata }),
    ...(request.transport !== undefined && { transport: request.transport }),
    ...(causationId !== undefined && { causationId }),
    ...(request.scopeId !== undefined && { scopeId: request.scopeId }),
    ...(request.conversation !== undefined && { conversation: request.conversation }),
    engineVersion: versionOf(engine, principal, request.engineVersion),
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    lastSequence: -1,
    ...newCompensation(engine),
    createdAt: clock.now(),
  };
  await checkConfigurable(options, run);
  const target = `${run.tenant}/${run.runId}`;
  const fact = factAbout(principal, {
    action: 'run.create',
    target,
    at: run.createdAt,
    workspace: run.workspace,
    details: { workflow: run.workflowId },
  });
  await store.transaction(async (transaction) => {
    const active = request.isOnlyOfScope === true ? await store.runs.activeIn(run, transaction) : undefined;
    if (active !== undefined) throw new RunActive(active);
    await store.runs.insert(run, transaction);
    await save(run, transaction);
    // Locks the end of the audit chain, so it comes last.
    await recordAudit(fact, transaction);
  });
  return run;
}

const CAUSATION_ID = /^\S{1,256}$/;

function versionOf(
  { version, otherVersions = [] }: CreateRunOptions['engine'],
  { tenancy }: Principal,
  forced: number | undefined,
): number {
  if (forced === undefined) return version;
  if (tenancy.mode !== 'test') {
    const message = 'Only a test key may choose the engine version. Remove Force-Engine-Version, or use a test key.';
    throw new HostError('force_engine_version_forbidden', message, { details: undefined });
  }
  const known = [version, ...otherVersions];
  if (known.includes(forced)) return forced;
  throw invalid({ field: 'header.Force-Engine-Version', problem: `must be one of ${known.join(', ')}` });
}

/** The default is the credential's first workspace. A run of a tenant-wide credential belongs to the tenant. */
function workspaceOf(
  { hasWorkspace }: CreateRunOptions,
  principal: Principal,
  scope: string | undefined,
): string | undefined {
  const { tenant, workspaces } = principal.tenancy;
  const isNamed = scope !== undefined && scope !== tenant;
  const workspace = isNamed ? scope : workspaces === 'all' ? undefined : workspaces[0];
  if (workspace !== undefined) requireMembership(hasWorkspace, principal, workspace);
  return workspace;
}

function ownerOf(principal: Principal, workspace: string | undefined): OwnerRecord {
  return {
    tenant: principal.tenancy.tenant,
    ...(workspace !== undefined && { workspace }),
    principal: principal.id,
    ...(principal.kind !== undefined && { principalKind: principal.kind }),
    subject: principal.subject,
  };
}
