import { stepsEngine } from '../../engine/steps/steps-engine.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AnyEngine, VersionedEngine } from '../../ports/engine.ts';
import { wrapEngine } from '../../ports/wrap-engine.ts';
import { conformanceWorkflows } from './conformance-workflows.ts';

/** The ids of the fixture workflows, for `discovery.fixtures` of `createHost`. */
export const CONFORMANCE_FIXTURES: readonly string[] = conformanceWorkflows.map(({ id }) => id);

/** Options of `withConformanceFixtures`. */
export interface ConformanceFixturesOptions {
  /** Default: `systemClock`. */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * Adds the fixture workflows of `svc-conformance` to an engine of any kind. It is for a host that is started for the
 * suite: callers can start the fixtures like any other workflow. The other workflows stay with the engine.
 *
 * The result has the version, the forks and the other declarations of the engine, asks questions of every kind, and
 * describes the fixtures. It declares no `events`, because the fixtures append other types than the engine.
 *
 * @example
 * const host = createHost({
 *   ...options,
 *   engine: withConformanceFixtures(options.engine),
 *   discovery: { ...options.discovery, fixtures: CONFORMANCE_FIXTURES },
 * });
 */
export function withConformanceFixtures(engine: AnyEngine, options: ConformanceFixturesOptions = {}): VersionedEngine {
  const own = wrapEngine(engine);
  const fixtures = stepsEngine({ workflows: conformanceWorkflows, version: own.version, ...options });
  const engineOf = (workflowId: string) => (CONFORMANCE_FIXTURES.includes(workflowId) ? fixtures : own);
  const { events: _events, ...declared } = wrapEngine(own, {
    accepts(workflowId, inputs) {
      const chosen = engineOf(workflowId);
      return chosen.accepts === undefined || chosen.accepts(workflowId, inputs);
    },
    execute: (run, execution) => engineOf(run.workflowId).execute(run, execution),
  });
  return {
    ...declared,
    ...(fixtures.interrupts !== undefined && { interrupts: fixtures.interrupts }),
    describe: (workflowId) => engineOf(workflowId).describe?.(workflowId),
  };
}
