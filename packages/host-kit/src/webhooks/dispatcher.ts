import type { Clock } from '../clock.ts';
import { describeError, type Log } from '../log.ts';
import type { Attempt } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

/** Works off the outbox: as many attempts at a time as allowed, in turn across subscriptions, each when it is due. */
export interface Dispatcher {
  start(): void;
  /** Says that something was enqueued. */
  wake(): void;
  /** Ends what is under way for a subscription that was removed; nothing starts for it afterwards. */
  forget(webhookId: string): void;
  /** Starts nothing more, gives what is under way `graceMs` to end, and hands the rest back to the queue. */
  stop(graceMs: number): Promise<void>;
}

export interface DispatcherOptions {
  readonly queue: DeliveryQueue;
  readonly attempt: Attempt;
  readonly clock: Clock;
  readonly log: Log;
  readonly concurrency: { readonly total: number; readonly perSubscription: number };
  /** The longest that an attempt can take; a claim outlives it. */
  readonly attemptTimeoutMs: number;
}

export function dispatcher(options: DispatcherOptions): Dispatcher {
  const { queue, attempt, clock, log, concurrency } = options;
  // Not by their deliveries: one that is being handed back may already have been claimed again.
  const underWay = new Set<UnderWay>();
  let state: 'idle' | 'running' | 'stopped' = 'idle';
  let pumping: Promise<void> | undefined;
  let pumpAgain = false;
  let cancelTimer = () => {};
  let sweptAt = 0;

  return {
    start() {
      state = 'running';
      wake();
    },
    wake,
    forget(webhookId) {
      for (const { delivery, abort } of underWay) {
        if (delivery.webhookId === webhookId) abort.abort();
      }
    },
    async stop(graceMs) {
      state = 'stopped';
      cancelTimer();
      await pumping;
      await settledWithin(graceMs);
      const left = [...underWay];
      for (const { abort } of left) abort.abort();
      await Promise.all(left.map(({ done }) => done));
    },
  };

  function wake(): void {
    if (state !== 'running') return;
    pumpAgain = true;
    pumping ??= pump().finally(() => {
      pumping = undefined;
      if (pumpAgain) wake();
    });
  }

  async function pump(): Promise<void> {
    while (pumpAgain && state === 'running') {
      pumpAgain = false;
      cancelTimer();
      try {
        await sweep();
        await startWhatIsDue();
      } catch (error) {
        log({ level: 'error', event: 'dispatcher.store-failed', ...describeError(error) });
        sleepUntil(clock.now() + STORE_RETRY_MS);
      }
    }
  }

  async function startWhatIsDue(): Promise<void> {
    const free = concurrency.total - underWay.size;
    // The end of an attempt wakes the dispatcher.
    if (free <= 0) return;
    const now = clock.now();
    const leaseUntil = now + options.attemptTimeoutMs + LEASE_MARGIN_MS;
    const claimed = await queue.claim({ now, leaseUntil, limit: free, room });
    for (const delivery of claimed) begin(delivery);
    if (claimed.length === free) return;
    const next = await queue.nextDueAt(room);
    if (next !== undefined) sleepUntil(Math.max(next, clock.now() + 1));
  }

  function begin(delivery: Delivery): void {
    const abort = new AbortController();
    const done = attempt(delivery, abort.signal)
      .catch((error: unknown) => handBack(delivery, error))
      .finally(() => {
        underWay.delete(begun);
        wake();
      });
    const begun: UnderWay = { delivery, abort, done };
    underWay.add(begun);
    if (state === 'stopped') abort.abort();
  }

  /** The outcome could not be written down. The claim is given up, so the delivery is tried again. */
  async function handBack(delivery: Delivery, error: unknown): Promise<void> {
    if (state !== 'stopped') {
      log({ level: 'error', event: 'delivery.not-settled', deliveryId: delivery.deliveryId, ...describeError(error) });
    }
    try {
      await queue.release([delivery.deliveryId]);
    } catch (cause) {
      // The claim runs out by itself.
      log({ level: 'error', event: 'delivery.not-released', deliveryId: delivery.deliveryId, ...describeError(cause) });
    }
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    if (now - sweptAt < SWEEP_INTERVAL_MS) return;
    // A full step means that there is more; the next round takes it.
    const swept = await queue.sweep(now, SWEEP_STEP);
    if (swept < SWEEP_STEP) sweptAt = now;
  }

  function room(webhookId: string): number {
    let count = 0;
    for (const { delivery } of underWay) if (delivery.webhookId === webhookId) count++;
    return concurrency.perSubscription - count;
  }

  function sleepUntil(time: number): void {
    cancelTimer();
    cancelTimer = clock.at(time, wake);
  }

  function settledWithin(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.at(clock.now() + graceMs, resolve);
      void Promise.all([...underWay].map(({ done }) => done)).then(() => {
        cancel();
        resolve();
      });
    });
  }
}

interface UnderWay {
  readonly delivery: Delivery;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

const LEASE_MARGIN_MS = 10_000;
const STORE_RETRY_MS = 1_000;
const SWEEP_INTERVAL_MS = 60_000;
const SWEEP_STEP = 500;
