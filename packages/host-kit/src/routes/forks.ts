import { json } from '../http/description.ts';
import { type Route, route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import type { ForkMode, Run } from '../ports/runs.ts';
import { forkRun } from '../runs/fork.ts';
import { effectSeams, effectSeamsBody } from '../wire/effect-seams.ts';
import { forkedBody, forkedRun, forkRequest } from '../wire/fork.ts';
import { runIdIn } from './run-address.ts';
import { aiErrors, type RunRoutesOptions } from './runs.ts';

export interface ForkRoutesOptions extends Omit<RunRoutesOptions, 'tellUnheard'> {
  /** The modes that the engine supports. Empty: the host serves no forks. */
  readonly forks: readonly ForkMode[];
}

/** Defines the routes of forks. */
export function forkRoutes(options: ForkRoutesOptions): Route[] {
  const { executor, served, forks } = options;
  if (forks.length === 0) return [];
  return [
    routeWithBody({
      operationId: 'forkRun',
      access: { scope: 'runs:create', alsoScope: 'runs:read' },
      schema: forkRequest(options.engine.configurable ?? []),
      describes: {
        tag: 'Runs',
        summary: 'Fork a run',
        description:
          'A replay repeats its source from the recorded log: it has no effects, and its events are not delivered. ' +
          'A branch runs on its own from its fork point.',
        example: { mode: 'replay' },
        answers: { 201: json('The fork, with the URLs of its status and events.', forkedRun) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch', 'fork_point_invalid', ...aiErrors(options)],
      },
      async serve(call, request, save: Save<Run>) {
        const { principal, decided } = call;
        const run = await forkRun(options, principal, runIdIn(served, call), request, save);
        executor.execute(run, decided && { type: 'authorization.decided', payload: { ...decided } });
        return run;
      },
      reply: (run, { major }) => ({ status: 201, body: forkedBody(major, run) }),
    }),
    route({
      operationId: 'readEffectSeams',
      access: 'any-credential',
      describes: {
        tag: 'Runs',
        summary: 'Read how a replay treats effects',
        description: 'A replay has no effects. The response lists each kind of effect and its substitute.',
        answers: {
          200: json('Every kind of effect, with its substitute in a replay.', effectSeams, {
            headers: ['Cache-Control'],
          }),
        },
      },
      serve: async () => ({ status: 200, headers: { 'cache-control': 'private, no-cache' }, body: effectSeamsBody }),
    }),
  ];
}
