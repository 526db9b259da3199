import type { Clock } from '../ports/clock.ts';
import type { Claim, ClaimedDelivery, DeliveryQueue } from '../ports/deliveries.ts';
import { describeError, type Log } from '../ports/log.ts';

/** Works off the outbox: as many attempts at a time as allowed, in turn across subscriptions, each when it is due. */
export interface Dispatcher {
  start(): void;
  /** Says that something was enqueued. */
  wake(): void;
  /** Ends what is under way for a subscription that was removed; nothing starts for it afterwards. */
  forget(webhookId: string): void;
  /** Whether it does its work, for whoever watches it. */
  progress(): DispatcherProgress;
  /** Starts nothing more, gives what is under way `graceMs` to end, and hands the rest back to the queue. */
  stop(graceMs: number): Promise<void>;
}

/** Since when, in ms; undefined: not at all. */
export interface DispatcherProgress {
  /** The round that is under way. */
  readonly roundSince: number | undefined;
  /** Rounds have failed. */
  readonly failingSince: number | undefined;
  /** The longest attempt that is under way. */
  readonly attemptSince: number | undefined;
}

export interface DispatcherOptions {
  readonly queue: DeliveryQueue;
  /** Ends, by itself or by the signal, whatever becomes of the delivery; a rejection hands it back, after a while. */
  readonly attempt: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<unknown>;
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
  /** Of each subscription: how many attempts are under way. */
  const busy = new Map<string, number>();
  /** Claimed and not begun, in the order in which they were claimed: what is next when an attempt ends. */
  let ready: readonly Claimed[] = [];
  /** Ends the waits of those that will be handed back. */
  const waits = new Set<() => void>();
  let state: 'idle' | 'running' | 'stopped' = 'idle';
  let pumping: Promise<void> | undefined;
  let pumpAgain = false;
  let cancelTimer = () => {};
  let sweptAt = 0;
  let roundSince: number | undefined;
  let failingSince: number | undefined;

  return {
    start() {
      state = 'running';
      wake();
    },
    wake,
    forget(webhookId) {
      ready = ready.filter(({ delivery }) => delivery.webhookId !== webhookId);
      for (const { delivery, abort } of underWay) {
        if (delivery.webhookId === webhookId) abort.abort();
      }
    },
    progress() {
      const [oldest] = underWay;
      return { roundSince, failingSince, attemptSince: oldest?.since };
    },
    async stop(graceMs) {
      state = 'stopped';
      cancelTimer();
      for (const end of waits) end();
      await pumping;
      const unbegun = ready.map(({ delivery }) => delivery);
      ready = [];
      if (unbegun.length > 0) await release(unbegun);
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
      roundSince = undefined;
      if (pumpAgain) wake();
    });
  }

  async function pump(): Promise<void> {
    while (pumpAgain && state === 'running') {
      pumpAgain = false;
      cancelTimer();
      roundSince = clock.now();
      try {
        await sweep();
        await claimWhatIsDue();
        failingSince = undefined;
      } catch (error) {
        failingSince ??= clock.now();
        log({ level: 'error', event: 'dispatcher.store-failed', ...describeError(error) });
        sleepUntil(clock.now() + STORE_RETRY_MS);
      }
    }
  }

  /** Claims some more than can begin, so that the store is asked once for many attempts. */
  async function claimWhatIsDue(): Promise<void> {
    const limit = CLAIMS_AHEAD * concurrency.total - underWay.size - ready.length;
    // The end of an attempt wakes the dispatcher.
    if (limit <= 0) return;
    const now = clock.now();
    const beginBy = now + MOST_AHEAD_MS;
    const leaseUntil = beginBy + options.attemptTimeoutMs + LEASE_MARGIN_MS;
    const held = heldBySubscription();
    const capacityOf = (webhookId: string) => CLAIMS_AHEAD * concurrency.perSubscription - (held.get(webhookId) ?? 0);
    const claimed = await queue.claim({ now, leaseUntil, limit, capacityOf });
    ready = [...ready, ...claimed.map((delivery) => ({ delivery, beginBy }))];
    beginReady();
    if (claimed.length === limit) return;
    const next = await queue.nextDueAfter(now);
    if (next !== undefined) sleepUntil(Math.max(next, clock.now() + 1));
  }

  function heldBySubscription(): ReadonlyMap<string, number> {
    const held = new Map(busy);
    for (const { delivery } of ready) held.set(delivery.webhookId, (held.get(delivery.webhookId) ?? 0) + 1);
    return held;
  }

  /** Begins what has room, in its order; a subscription without room is passed over and holds nobody up. */
  function beginReady(): void {
    if (ready.length === 0 || state === 'stopped') return;
    const now = clock.now();
    const later: Claimed[] = [];
    const late: ClaimedDelivery[] = [];
    for (const claimed of ready) {
      const { delivery, beginBy } = claimed;
      const isFree =
        underWay.size < concurrency.total && (busy.get(delivery.webhookId) ?? 0) < concurrency.perSubscription;
      // A claim that was kept too long might run out during the attempt, and another host take it over.
      if (now > beginBy) late.push(delivery);
      else if (isFree) begin(delivery);
      else later.push(claimed);
    }
    ready = later;
    if (late.length > 0) void release(late);
  }

  function begin(delivery: ClaimedDelivery): void {
    const { webhookId } = delivery;
    const abort = new AbortController();
    busy.set(webhookId, (busy.get(webhookId) ?? 0) + 1);
    const done: Promise<unknown> = attempt(delivery, abort.signal)
      .catch((error: unknown) => handBack(delivery, error, abort.signal))
      .finally(() => {
        underWay.delete(begun);
        leave(webhookId);
        beginReady();
        // Half of what was claimed is under way or done: time to ask for more.
        if (underWay.size + ready.length <= concurrency.total) wake();
      });
    const begun: UnderWay = { delivery, abort, done, since: clock.now() };
    underWay.add(begun);
    if (state === 'stopped') abort.abort();
  }

  function leave(webhookId: string): void {
    const count = (busy.get(webhookId) ?? 1) - 1;
    if (count === 0) busy.delete(webhookId);
    else busy.set(webhookId, count);
  }

  /**
   * The outcome could not be written down. The claim is given up, so the delivery is tried again: not at once, and until then others are held
   * up by it, for a receiver would be sent the same as fast as a store fails that takes nothing.
   */
  async function handBack(delivery: ClaimedDelivery, error: unknown, signal: AbortSignal): Promise<void> {
    // Aborted, because it was asked for, is no trouble of anybody's.
    if (!signal.aborted) {
      log({ level: 'error', event: 'delivery.not-settled', deliveryId: delivery.deliveryId, ...describeError(error) });
      if (state !== 'stopped') await waited(HAND_BACK_AFTER_MS, signal);
    }
    await release([delivery]);
  }

  /** Waits so long, or until the signal, or the end of all. */
  function waited(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        callOff();
        waits.delete(end);
        resolve();
      };
      const callOff = clock.at(clock.now() + ms, end);
      waits.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  async function release(claims: readonly Claim[]): Promise<void> {
    try {
      await queue.release(claims);
      wake();
    } catch (cause) {
      // The claims run out by themselves.
      log({ level: 'error', event: 'delivery.not-released', deliveries: claims.length, ...describeError(cause) });
    }
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    if (now - sweptAt < SWEEP_INTERVAL_MS) return;
    // A full step means that there is more; the next round takes it.
    const swept = await queue.sweep(now, SWEEP_STEP);
    if (swept < SWEEP_STEP) sweptAt = now;
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
  readonly delivery: ClaimedDelivery;
  readonly abort: AbortController;
  readonly done: Promise<unknown>;
  readonly since: number;
}

interface Claimed {
  readonly delivery: ClaimedDelivery;
  /** After it the claim is given back instead of begun. */
  readonly beginBy: number;
}

/** How many times what can be under way is claimed at the most. */
const CLAIMS_AHEAD = 2;
const MOST_AHEAD_MS = 5000;
const LEASE_MARGIN_MS = 10_000;
const STORE_RETRY_MS = 1_000;
const HAND_BACK_AFTER_MS = 5_000;
const SWEEP_INTERVAL_MS = 60_000;
const SWEEP_STEP = 500;
