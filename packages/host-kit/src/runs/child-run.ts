import { EVENT_LOG_SCHEMA_VERSION } from '@svc/versioning/axes';
import { mintInOrder } from '../ids-in-order.ts';
import type { ChildRequest } from '../ports/child-runs.ts';
import type { VersionedEngine } from '../ports/engine.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Run } from '../ports/runs.ts';
import { newCompensation } from './compensation.ts';

/**
 * Makes the record of a child. It belongs to the owner, the place and the mode of its parent, and has its options: the
 * limits that a caller set for the parent hold for each run below it.
 */
export function childRun(
  parent: Run,
  { nodeId, workflowId, inputs, tags = parent.tags, metadata, causationId }: ChildRequest,
  {
    engine,
    clock,
    random,
  }: Pick<HostPorts, 'clock' | 'random'> & { readonly engine: Pick<VersionedEngine, 'version' | 'compensation'> },
): Run {
  const { runId, tenant, workspace, mode, owner, configurable, transport } = parent;
  return {
    runId: mintInOrder('run', clock, random),
    ...{ tenant, mode, workflowId, inputs, tags },
    ...(workspace !== undefined && { workspace }),
    ...(owner !== undefined && { owner }),
    ...(configurable !== undefined && { configurable }),
    ...(metadata !== undefined && { metadata }),
    ...(transport !== undefined && { transport }),
    ...(causationId !== undefined && { causationId }),
    parent: { runId, nodeId, depth: depthBelow(parent) },
    engineVersion: engine.version,
    eventLogSchemaVersion: EVENT_LOG_SCHEMA_VERSION,
    createdAt: clock.now(),
    status: 'pending',
    lastSequence: -1,
    ...newCompensation(engine),
  };
}

/** The depth of the children of a run. */
export function depthBelow({ parent }: Pick<Run, 'parent'>): number {
  return (parent?.depth ?? 0) + 1;
}
