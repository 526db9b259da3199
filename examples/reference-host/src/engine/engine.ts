import type { WorkflowEngine } from '@svc/host-kit';
import { approval } from './approval.ts';
import { artifact } from './artifact.ts';
import { burst } from './burst.ts';
import { clarification } from './clarification.ts';
import { count } from './count.ts';
import { DEFINITIONS } from './definitions.ts';
import { delay } from './delay.ts';
import { echo } from './echo.ts';
import { externalEvent } from './external-event.ts';
import { fail } from './fail.ts';
import { fetch } from './fetch.ts';
import { readJournal } from './journal.ts';
import { note } from './note.ts';
import { pay } from './pay.ts';
import { stepsOf } from './steps.ts';
import { tripEngine } from './trip.ts';
import { NodeFailure, type Workflow } from './workflow.ts';

/**
 * Makes a small engine. A workflow is a function of its inputs, and the log of the run is its only state.
 *
 * @param now the time of the day, in ms since the epoch
 */
export function sampleEngine(now: () => number = Date.now): WorkflowEngine {
  const workflows: ReadonlyMap<string, Workflow> = new Map(
    Object.entries({
      ...{ echo, fail, delay, approval, clarification, 'external-event': externalEvent, artifact },
      ...{ burst, fetch, note, count, pay },
    }),
  );

  const inSteps = tripEngine(now);
  /** Whether a workflow is one of the engine of steps. */
  const isInSteps = (workflowId: string) => inSteps.describe?.(workflowId) !== undefined;

  return {
    version: 1,
    interrupts: ['approval', 'clarification', 'external-event'],
    forks: ['replay', 'branch'],
    compensation: 'reverse-completion',
    accepts(workflowId, inputs) {
      const workflow = workflows.get(workflowId);
      if (workflow !== undefined) return workflow.refuse(inputs) ?? true;
      if (isInSteps(workflowId)) return inSteps.accepts?.(workflowId, inputs) ?? false;
      const problem = `is not a workflow of this host: use one of ${[...workflows.keys(), 'trip', 'hotel'].join(', ')}`;
      return { field: 'workflowId', problem };
    },
    describe: (workflowId) =>
      workflows.has(workflowId) ? { workflowId, ...DEFINITIONS[workflowId] } : inSteps.describe?.(workflowId),
    async execute(run, execution) {
      if (isInSteps(run.workflowId)) return inSteps.execute(run, execution);
      const workflow = workflows.get(run.workflowId);
      if (workflow === undefined)
        throw new Error(`The workflow ${run.workflowId} no longer exists. Create the run with another workflow.`);
      const steps = stepsOf(execution, await readJournal(execution.history()), now);
      try {
        return { status: 'completed', outputs: await workflow.run(run.inputs, steps) };
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error;
        const { failure, nodeId } = error;
        return { status: 'failed', error: failure, ...(nodeId !== undefined && { failedNodeId: nodeId }) };
      }
    },
  };
}
