import type { StateChanged } from '../webhooks/subscription-state.ts';
import { counterOf, METRICS } from './metrics.ts';
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
