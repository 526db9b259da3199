import { wholeLog } from '../execution/whole-log.ts';
import { json } from '../http/description.ts';
import { type Route, route } from '../http/route.ts';
import type { WorkflowEngine } from '../ports/engine.ts';
import type { Store } from '../ports/store.ts';
import { compensationsOf } from '../runs/compensations.ts';
import { compensationBody, compensationRecord } from '../wire/compensation.ts';
import { addressedRun, type RunAddressOptions } from './run-address.ts';

export interface CompensationRoutesOptions extends RunAddressOptions {
  readonly store: Store;
  readonly engine: Pick<WorkflowEngine, 'compensation'>;
}

/** Defines the route that reads the compensation of a run, in major 2, for an engine that compensates. */
export function compensationRoutes({ engine, ...options }: CompensationRoutesOptions): Route[] {
  if (engine.compensation === undefined) return [];
  return [
    route({
      operationId: 'readCompensation',
      scope: 'runs:read',
      describes: {
        tag: 'Runs',
        summary: 'Read the compensation of a run',
        description:
          'The nodes of the run that can be undone, in the order in which they are: the one that completed last comes ' +
          'first. They are undone when the run fails. `manual`: a person has to, because the host ended the run.',
        answers: { 200: json('The compensation of the run.', compensationRecord, { headers: ['Cache-Control'] }) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      async serve(call) {
        const run = await addressedRun(options, call);
        const { compensable = 0 } = run.compensation ?? {};
        const compensations = compensable === 0 ? [] : await compensationsOf(wholeLog(options.store, run));
        return {
          status: 200,
          headers: { 'cache-control': 'private, no-store' },
          body: compensationBody(run, compensations),
        };
      },
    }),
  ];
}
