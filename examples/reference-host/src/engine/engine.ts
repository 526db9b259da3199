import type { WorkflowEngine } from '@svc/host-kit';
import { approval } from './approval.ts';
import { artifact } from './artifact.ts';
import { burst } from './burst.ts';
import { count } from './count.ts';
import { DEFINITIONS } from './definitions.ts';
import { delay } from './delay.ts';
import { echo } from './echo.ts';
import { fail } from './fail.ts';
import { fetch } from './fetch.ts';
import { FIXTURES } from './fixtures.ts';
import { readJournal } from './journal.ts';
import { note } from './note.ts';
import { stepsOf } from './steps.ts';
import { NodeFailure, type Workflow } from './workflow.ts';

/** Makes a small engine. A workflow is a function of its inputs, and the log of the run is its only state. */
export function sampleEngine(): WorkflowEngine {
  const workflows: ReadonlyMap<string, Workflow> = new Map(
    Object.entries({ echo, fail, delay, approval, artifact, burst, fetch, note, count, ...FIXTURES }),
  );

  return {
    version: 1,
    interrupts: ['approval'],
    forks: ['replay', 'branch'],
    refuse(workflowId, inputs) {
      const workflow = workflows.get(workflowId);
      if (workflow !== undefined) return workflow.refuse(inputs);
      const problem = `is not a workflow of this host: use one of ${[...workflows.keys()].join(', ')}`;
      return { field: 'workflowId', problem };
    },
    describe: (workflowId) => (workflows.has(workflowId) ? { workflowId, ...DEFINITIONS[workflowId] } : undefined),
    async execute(run, execution) {
      const workflow = workflows.get(run.workflowId);
      if (workflow === undefined)
        throw new Error(`The workflow ${run.workflowId} no longer exists. Create the run with another workflow.`);
      const steps = stepsOf(execution, await readJournal(execution.history()));
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
