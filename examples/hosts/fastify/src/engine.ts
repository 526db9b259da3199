import type { WorkflowEngine } from '@svc/host-kit';

/** The workflows of this host, by their id. */
export const workflows: ReadonlyMap<string, { readonly name: string }> = new Map([
  ['greet', { name: 'Greets by name' }],
]);

/** Does the work of the runs. The host records them, and reports their events to webhooks. */
export const engine: WorkflowEngine = {
  // Judges a run before it exists.
  accepts: (workflowId) => workflows.has(workflowId),
  // Does the work, and resolves with the end of the run.
  async execute(run, { append }) {
    await append({ type: 'log.appended', payload: { level: 'info', message: 'Composing the greeting' } });
    return { status: 'completed', outputs: { greeting: `Hello, ${run.inputs.name}` } };
  },
};
