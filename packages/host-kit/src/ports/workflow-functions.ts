import { memberOf, nearestName } from '../known-options.ts';
import type { EngineFunction, EngineRefusal, RunOutcome, WorkflowEngine, WorkflowFunctions } from './engine.ts';
import type { Run } from './runs.ts';

/**
 * Whether an engine is functions by workflow id. One that has a member of an engine, or nearly `execute`, is an engine that lacks
 * its function: as workflows it would have ids that its author did not mean.
 */
export function isWorkflowFunctions(engine: unknown): engine is WorkflowFunctions {
  if (memberOf(engine, 'execute') !== undefined) return false;
  const ids = functionNames(engine);
  return ids.length > 0 && !ids.some(isMember);
}

/**
 * Returns the name that keeps an object of functions from being functions by workflow id, because it is that of a member of an engine or
 * nearly `execute`; undefined when there is none.
 */
export function takenName(engine: unknown): string | undefined {
  return functionNames(engine).find(isMember);
}

/** Returns the names of an object of functions; none of anything else. */
function functionNames(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.values(value).every((member) => typeof member === 'function') ? Object.keys(value) : [];
}

function isMember(name: string): boolean {
  return Object.hasOwn(MEMBERS, name) || nearestName(name, ['execute']) !== undefined;
}

const MEMBERS: Readonly<Record<keyof WorkflowEngine | 'refuse', true>> = {
  ...{ version: true, otherVersions: true, forks: true, interrupts: true, compensation: true, configurable: true },
  ...{ events: true, accepts: true, refuse: true, execute: true, describe: true },
};

/** Makes the engine of functions by workflow id. */
export function engineOfWorkflows(
  functions: WorkflowFunctions,
  executeOf: (work: EngineFunction) => WorkflowEngine['execute'],
): WorkflowEngine {
  const workflows = new Map(Object.entries(functions).map(([id, work]) => [id, executeOf(work)]));
  return {
    accepts: (workflowId) => workflows.has(workflowId) || unknownWorkflow([...workflows.keys()]),
    describe: (workflowId) => (workflows.has(workflowId) ? { workflowId } : undefined),
    async execute(run, execution) {
      const execute = workflows.get(run.workflowId);
      return execute === undefined ? workflowGone(run) : execute(run, execution);
    },
  };
}

/** Fails a run whose workflow was removed after the run was created. */
export function workflowGone({ workflowId }: Pick<Run, 'workflowId'>): RunOutcome {
  const message = `The workflow ${workflowId} no longer exists. Start a run of another workflow.`;
  return { status: 'failed', error: { code: 'workflow_gone', message, retryable: false } };
}

/** Refuses a run of a workflow that is none of these. */
export function unknownWorkflow(ids: readonly string[]): EngineRefusal {
  return { field: 'workflowId', problem: `is not a workflow of this host: use one of ${ids.join(', ')}` };
}
