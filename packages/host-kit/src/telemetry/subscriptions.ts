import type { LaneChanged } from '../webhooks/lanes.ts';
import type { StateChanged } from '../webhooks/subscription-state.ts';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts the state changes of subscriptions and of their circuits. */
export function stateCounter({ meter }: Scope): StateChanged {
  const circuits = counterOf(meter, METRICS.circuitTransitions);
  const subscriptions = counterOf(meter, METRICS.subscriptionTransitions);

  return (before, after) => {
    if (before.circuit.state !== after.circuit.state) {
      circuits.add(1, { 'svc.state.from': before.circuit.state, 'svc.state.to': after.circuit.state });
    }
    if (before.status !== after.status) {
      subscriptions.add(1, { 'svc.state.from': before.status, 'svc.state.to': after.status });
    }
  };
}

/** Counts the subscriptions that change their lane. */
export function laneCounter({ meter }: Scope): LaneChanged {
  const lanes = counterOf(meter, METRICS.laneTransitions);
  return (from, to) => lanes.add(1, { 'svc.state.from': from, 'svc.state.to': to });
}
