import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import type { HealthCheck, Phase } from './check.ts';
import { deliveryCheck } from './delivery-check.ts';
import { storeCheck } from './store-check.ts';

/** The health of a host. */
export interface HealthReport {
  /** Whether the host may be sent requests: every check passed. */
  readonly ready: boolean;
  /** `lifecycle`, and while the host runs or drains also `deliveries` and `store`. */
  readonly checks: readonly HealthCheck[];
}

export interface HealthOptions {
  readonly phase: () => Phase;
  readonly store: Pick<Store, 'probe'>;
  /** Whether the store can write nothing more until the process is started again. */
  readonly isLost: () => boolean;
  readonly dispatcher: Pick<Dispatcher, 'progress'>;
  readonly attemptTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Makes the function that judges a host. It may be called at any rate: the store is asked at most once a second, never
 * twice at a time, and not at all unless the host runs or drains.
 */
export function health({
  phase,
  store,
  isLost,
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
      checks.push(
        deliveryCheck(dispatcher.progress(), attemptTimeoutMs, clock.monotonic()),
        isLost() ? STORE_LOST : await checkStore(),
      );
    }
    return { ready: checks.every(({ ok }) => ok), checks };
  };
}

const STORE_LOST: HealthCheck = { name: 'store', ok: false, reason: 'lost' };
