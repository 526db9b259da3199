import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { admit } from './circuit.ts';
import { isDelivering } from './status.ts';
import { changingState, type StateChanged } from './subscription-state.ts';

/**
 * Returns whether an attempt may begin now. A durable subscription has no circuit and always may; best effort may
 * unless the subscription has failed or its circuit is open.
 */
export type Admission = (subscription: Subscription) => Promise<boolean>;

export interface AdmissionOptions {
  readonly store: Pick<Store, 'transaction' | 'subscriptions'>;
  readonly clock: Clock;
  /** Called with each change of a subscription's state, once it is durable. */
  readonly stateChanged: StateChanged;
  readonly attemptTimeoutMs: number;
}

/**
 * Takes the probe of a half-open circuit in the transaction that asks for it, so that two hosts never take the same
 * one.
 */
export function admission({ store, clock, stateChanged, attemptTimeoutMs }: AdmissionOptions): Admission {
  const probeMs = attemptTimeoutMs + PROBE_MARGIN_MS;

  return async (subscription) => {
    if (subscription.durable) return true;
    if (!isDelivering(subscription.status)) return false;
    if (subscription.circuit.state === 'closed') return true;
    return changingState(store, stateChanged, async (_transaction, changeState) => {
      let isAdmitted = false;
      await changeState(subscription.webhookId, ({ status, failures, circuit, outage }) => {
        const decision = admit(circuit, clock.now(), probeMs);
        isAdmitted = decision.admitted;
        return { status, failures, circuit: decision.circuit, outage };
      });
      return isAdmitted;
    });
  };
}

const PROBE_MARGIN_MS = 10_000;
