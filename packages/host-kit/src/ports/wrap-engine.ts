import type { JsonObject } from '../json.ts';
import type { AnyEngine, EngineFunction, VersionedEngine, WorkflowEngine } from './engine.ts';
import { engineOfWorkflows, isWorkflowFunctions } from './workflow-functions.ts';

/** The members of an engine that `wrapEngine` replaces. */
export type WrappedMembers = Partial<Pick<WorkflowEngine, 'execute' | 'accepts'>>;

/**
 * Returns an engine that differs from another one in the replaced members alone. Everything that the other engine declares, such as its
 * versions and its compensation, is declared by the new one, and a member that it leaves out stays left out, but `version`, which
 * is 1 by default. Methods are called on the other engine, so it may be an instance of a class. It may also be functions by workflow id, or
 * a function that executes every run.
 *
 * @param replaced `execute`, and `accepts` where it differs. Default: none
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
export function wrapEngine(engine: AnyEngine, replaced: WrappedMembers = {}): VersionedEngine {
  if (typeof engine === 'function') return { version: DEFAULT_VERSION, execute: executeOf(engine), ...replaced };
  if (isWorkflowFunctions(engine)) return wrapEngine(engineOfWorkflows(engine, executeOf), replaced);
  const { version = DEFAULT_VERSION, otherVersions, forks, interrupts, compensation, configurable, ...rest } = engine;
  // Not of the rest, which has no method of a class.
  const { events, describe, accepts } = engine;
  const { events: _events, describe: _describe, accepts: _accepts, execute: _execute, ...forgotten } = rest;
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
    ...(accepts !== undefined && { accepts: accepts.bind(engine) }),
    execute: (run, execution) => engine.execute(run, execution),
    ...replaced,
  };
}

const DEFAULT_VERSION = 1;

function executeOf(engine: EngineFunction): WorkflowEngine['execute'] {
  return async (run, execution) => ({ status: 'completed', outputs: outputsOf(await engine(run, execution)) });
}

/** @throws {TypeError} for a result that is no object. The message names its type alone */
function outputsOf(result: JsonObject): JsonObject {
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return result;
  const found = result === null ? 'null' : Array.isArray(result) ? 'a list' : typeof result;
  throw new TypeError(`engine: resolved with ${found}. Return the outputs of the run, an object such as {}.`);
}
