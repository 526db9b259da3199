import type { WorkflowEngine } from '@svc/host-kit';

/** The workflows of this host, by their id. */
export const workflows: ReadonlyMap<string, { readonly name: string }> = new Map([
  ['greet', { name: 'Greets by name' }],
]);

/** Does the work of the runs. The host records them, and reports their events to webhooks. */
export const engine: WorkflowEngine = {
  version: 1,
  // Judges a run before it exists.
  refuse: (workflowId) =>
    workflows.has(workflowId) ? undefined : { field: 'workflowId', problem: 'must be a workflow of this host' },
  // Does the work, and resolves with the end of the run.
  async execute(run, { append }) {
    await append({ type: 'log.appended', payload: { level: 'info', message: 'Composing the greeting' } });
    return { status: 'completed', outputs: { greeting: `Hello, ${run.inputs.name}` } };
  },
};
