import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { admit, type CircuitRule } from './circuit.ts';
import { isDelivering } from './status.ts';
import { changingState, type StateChanged } from './subscription-state.ts';

/**
 * Returns whether an attempt may begin now. A durable subscription has no circuit and always may; best effort may
 * unless the subscription has failed or its circuit is open.
 */
export type Admission = (subscription: Subscription) => Promise<boolean>;

export interface AdmissionOptions {
  readonly store: Pick<Store, 'transaction' | 'subscriptions'>;
  /** Circuits are shared by the hosts of a store, so they go by its clock. */
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly rules: { readonly circuit: Pick<CircuitRule, 'cooldownMs'> };
  /** Called with each change of a subscription's state, once it is durable. */
  readonly stateChanged: StateChanged;
  readonly attemptTimeoutMs: number;
}

/**
 * Takes the probe of a half-open circuit in the transaction that asks for it, so that two hosts never take the same
 * one.
 */
export function admission({ store, storeClock, stateChanged, attemptTimeoutMs, rules }: AdmissionOptions): Admission {
  const rule = { probeMs: attemptTimeoutMs + PROBE_MARGIN_MS, cooldownMs: rules.circuit.cooldownMs };

  return async (subscription) => {
    if (subscription.durable) return true;
    if (!isDelivering(subscription.status)) return false;
    if (subscription.circuit.state === 'closed') return true;
    return changingState(store, stateChanged, async (_transaction, changeState) => {
      let isAdmitted = false;
      await changeState(subscription.webhookId, ({ status, failures, circuit, outage }) => {
        const decision = admit(circuit, storeClock.now(), rule);
        isAdmitted = decision.admitted;
        return { status, failures, circuit: decision.circuit, outage };
      });
      return isAdmitted;
    });
  };
}

const PROBE_MARGIN_MS = 10_000;
