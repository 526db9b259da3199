import type { WorkflowEngine } from './engine.ts';

/** The members of an engine that `wrapEngine` replaces. */
export type WrappedMembers = Pick<WorkflowEngine, 'execute'> & Partial<Pick<WorkflowEngine, 'refuse'>>;

/**
 * Returns an engine that differs from another one in the replaced members alone. Everything that the other engine declares, such as its
 * versions and its compensation, is declared by the new one, and a member that it leaves out stays left out. Methods are called on the
 * other engine, so it may be an instance of a class.
 *
 * @param replaced `execute`, and `refuse` where it differs
 * @example
 * import { stepsEngine } from '@svc/host-kit/engine/steps';
 *
 * const steps = stepsEngine({ workflows: [publish] });
 * const timed = wrapEngine(steps, {
 *   async execute(run, execution) {
 *     const began = performance.now();
 *     try {
 *       return await steps.execute(run, execution);
 *     } finally {
 *       console.log(run.runId, performance.now() - began);
 *     }
 *   },
 * });
 */
export function wrapEngine(engine: WorkflowEngine, replaced: WrappedMembers): WorkflowEngine {
  const { version, otherVersions, forks, interrupts, compensation, configurable, events, describe, ...others } = engine;
  const { refuse: _refuse, execute: _execute, ...forgotten } = others;
  // A member that is added to engines must be added here.
  forgotten satisfies Record<string, never>;
  return {
    version,
    ...(otherVersions !== undefined && { otherVersions }),
    ...(forks !== undefined && { forks }),
    ...(interrupts !== undefined && { interrupts }),
    ...(compensation !== undefined && { compensation }),
    ...(configurable !== undefined && { configurable }),
    ...(events !== undefined && { events }),
    ...(describe !== undefined && { describe: (workflowId: string) => engine.describe?.(workflowId) }),
    refuse: (workflowId, inputs) => engine.refuse(workflowId, inputs),
    ...replaced,
  };
}
