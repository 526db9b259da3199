import { setTimeout as sleep } from 'node:timers/promises';
import type { NewEvent, Run, WorkflowEngine } from '@svc/host-kit';
import { delay } from './delay.ts';
import { echo } from './echo.ts';
import { fail } from './fail.ts';
import type { Workflow } from './workflow.ts';

const WORKFLOWS: ReadonlyMap<string, Workflow> = new Map(Object.entries({ echo, fail, delay }));

/**
 * A small engine: a workflow is a generator of events, and the log is its memory. After a restart the generator runs again, and
 * as many of its events as the log already has are skipped.
 */
export const engine: WorkflowEngine = {
  version: 1,
  refuse(workflowId, inputs) {
    const workflow = WORKFLOWS.get(workflowId);
    if (workflow !== undefined) return workflow.refuse(inputs);
    const problem = `names no workflow of this host; it has ${[...WORKFLOWS.keys()].join(', ')}`;
    return { field: 'workflowId', problem };
  },
  async execute(run, { history, append, signal }) {
    const workflow = WORKFLOWS.get(run.workflowId);
    if (workflow === undefined) throw new Error(`The workflow ${run.workflowId} is no longer here.`);
    const started = history[0] ?? (await append(startedEvent(run)));
    const until = (time: number) => sleep(Math.max(time - Date.now(), 0), undefined, { signal });
    let recorded = Math.max(history.length - 1, 0);
    for await (const step of workflow.steps(run.inputs, { startedAt: started.timestamp, until })) {
      if (recorded > 0) recorded--;
      else await append(step);
    }
  },
};

/** The owner is echoed by the host, in the shape of each reader's major. */
function startedEvent(run: Run): NewEvent {
  const { workflowId, inputs, engineVersion, tags, metadata } = run;
  return {
    type: 'run.started',
    payload: {
      workflowId,
      inputs,
      transport: 'rest',
      engineVersion,
      tags,
      ...(metadata !== undefined && { metadata }),
    },
  };
}
