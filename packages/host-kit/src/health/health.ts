import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import type { HealthCheck, Phase } from './check.ts';
import { deliveryCheck } from './delivery-check.ts';
import { storeCheck } from './store-check.ts';

/** Whether a host may be sent requests, and by what it is judged. */
export interface HealthReport {
  readonly ready: boolean;
  readonly checks: readonly HealthCheck[];
}

export interface HealthOptions {
  readonly phase: () => Phase;
  readonly store: Pick<Store, 'transaction'>;
  readonly dispatcher: Pick<Dispatcher, 'progress'>;
  readonly attemptTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Judges a host, as often as anybody asks: the store is asked at most once a second, and never twice at a time. A host that does not run is
 * told without asking it.
 */
export function health({
  phase,
  store,
  dispatcher,
  attemptTimeoutMs,
  clock,
}: HealthOptions): () => Promise<HealthReport> {
  const checkStore = storeCheck(store, clock);

  return async () => {
    const now = phase();
    const checks: HealthCheck[] = [
      now === 'running' ? { name: 'lifecycle', ok: true } : { name: 'lifecycle', ok: false, reason: now },
    ];
    if (now === 'running' || now === 'draining') {
      checks.push(deliveryCheck(dispatcher.progress(), attemptTimeoutMs, clock.now()), await checkStore());
    }
    return { ready: checks.every(({ ok }) => ok), checks };
  };
}
