import { MOST_EFFECTS } from '../execution/run-effects.ts';
import { json } from '../http/description.ts';
import { type Route, route } from '../http/route.ts';
import type { EffectStore } from '../ports/effects.ts';
import { effectLedger, effectLedgerBody } from '../wire/effects.ts';
import { addressedRun, type RunAddressOptions } from './run-address.ts';

export interface EffectRoutesOptions extends RunAddressOptions {
  readonly store: RunAddressOptions['store'] & { readonly effects: Pick<EffectStore, 'list'> };
}

/** Defines the route that reads the ledger of a run's effects, in major 2. */
export function effectRoutes(options: EffectRoutesOptions): Route[] {
  return [
    route({
      operationId: 'readEffects',
      scope: 'runs:read',
      describes: {
        tag: 'Runs',
        summary: 'Read the effects of a run',
        description:
          'The effects outside of the host that the run asked for, in the order in which it first did: whether the ' +
          'customer was charged, for example. Inputs and results of an effect are not shown.',
        answers: { 200: json('The effects of the run.', effectLedger, { headers: ['Cache-Control'] }) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      async serve(call) {
        const run = await addressedRun(options, call);
        const effects = await options.store.effects.list(run, MOST_EFFECTS);
        return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: effectLedgerBody(run, effects) };
      },
    }),
  ];
}
