import { sleep, within } from '../ports/clock.ts';
import type { Claim, ClaimedDelivery, DeliveryQueue } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import { AttemptsUnderWay, type AttemptUnderWay, type Concurrency } from './attempts-under-way.ts';
import { nextStep, planClaim, type ReadyClaim } from './claims-ahead.ts';

/**
 * Attempts the deliveries of the outbox, each when it is due: as many at a time as allowed, in turn across
 * subscriptions.
 */
export interface Dispatcher {
  start(): void;
  /** Looks for due deliveries now. Call it after an enqueue. */
  readonly wake: () => void;
  /** Aborts the attempts of a removed subscription, and begins none of those already claimed. */
  forget(webhookId: string): void;
  /** Reports the progress of the work, for health checks. */
  progress(): DispatcherProgress;
  /** Begins nothing more, waits up to `graceMs` ms for attempts to end, aborts the rest and releases their claims. */
  stop(graceMs: number): Promise<void>;
}

/** Start times in ms since the epoch; undefined when there is nothing of the kind. */
export interface DispatcherProgress {
  /** When the current round began. */
  readonly roundSince: number | undefined;
  /** When the first of the failed rounds in a row failed. */
  readonly failingSince: number | undefined;
  /** When the oldest attempt under way began. */
  readonly attemptSince: number | undefined;
}

export interface DispatcherOptions extends Pick<HostPorts, 'clock' | 'log'> {
  readonly queue: DeliveryQueue;
  /**
   * Attempts and settles one delivery. Ends by itself, or by the signal. A rejection releases the claim, after a pause
   * of 5 s.
   */
  readonly attempt: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<unknown>;
  readonly concurrency: Concurrency;
  /** The longest time that an attempt can take, in ms. A claim outlives it. */
  readonly attemptTimeoutMs: number;
}

export function dispatcher(options: DispatcherOptions): Dispatcher {
  return new OutboxDispatcher(options);
}

/**
 * Works in rounds. A round deletes expired dead letters, claims due deliveries and begins their attempts. A wake-up
 * starts one: by an enqueue, by the timer of the next due delivery, or by attempts that end.
 */
class OutboxDispatcher implements Dispatcher {
  readonly #options: DispatcherOptions;
  /** Attempts that have begun and not ended. */
  readonly #underWay: AttemptsUnderWay;
  /** Claims whose attempts have not begun, in the order in which they were claimed. */
  #ready: readonly ReadyClaim[] = [];
  /** `idle` before `start`. A stopped dispatcher begins nothing. */
  #state: 'idle' | 'running' | 'stopped' = 'idle';
  /** Aborted by `stop`: ends the pauses before claims are released. */
  readonly #stopping = new AbortController();
  /** The rounds under way; undefined between rounds. */
  #rounds: Promise<void> | undefined;
  /** Set by a wake-up. A wake-up during a round asks for another round after it. */
  #isRoundDue = false;
  /** Cancels the timer of the next round. */
  #cancelTimer = (): void => {};
  /** When the last sweep deleted every expired dead letter, in ms since the epoch. */
  #sweptAt = 0;
  /** See `DispatcherProgress`. */
  #roundSince: number | undefined;
  /** See `DispatcherProgress`. */
  #failingSince: number | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#underWay = new AttemptsUnderWay(options.concurrency);
  }

  start(): void {
    this.#state = 'running';
    this.wake();
  }

  readonly wake = (): void => {
    if (this.#state !== 'running') return;
    this.#isRoundDue = true;
    this.#rounds ??= this.#runRounds().finally(() => {
      this.#rounds = undefined;
      this.#roundSince = undefined;
      if (this.#isRoundDue) this.wake();
    });
  };

  forget(webhookId: string): void {
    this.#ready = this.#ready.filter(({ delivery }) => delivery.webhookId !== webhookId);
    this.#underWay.abortOf(webhookId);
  }

  progress(): DispatcherProgress {
    return {
      roundSince: this.#roundSince,
      failingSince: this.#failingSince,
      attemptSince: this.#underWay.oldestSince,
    };
  }

  async stop(graceMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#cancelTimer();
    this.#stopping.abort();
    await this.#rounds;
    const unbegun = this.#ready.map(({ delivery }) => delivery);
    this.#ready = [];
    if (unbegun.length > 0) await this.#release(unbegun);
    await within(this.#options.clock, graceMs, this.#underWay.ended());
    this.#underWay.abortAll();
    await this.#underWay.ended();
  }

  async #runRounds(): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#isRoundDue && this.#state === 'running') {
      this.#isRoundDue = false;
      this.#cancelTimer();
      this.#roundSince = clock.now();
      try {
        await this.#sweep();
        await this.#claimDue();
        this.#failingSince = undefined;
      } catch (error) {
        this.#failingSince ??= clock.now();
        log({ level: 'error', event: 'dispatcher.store-failed', ...describeError(error) });
        this.#wakeAt(clock.now() + STORE_RETRY_MS);
      }
    }
  }

  /** Deletes one batch of expired dead letters, once a minute. A full batch leaves the rest to the next round. */
  async #sweep(): Promise<void> {
    const now = this.#options.clock.now();
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    const swept = await this.#options.queue.sweep(now, SWEEP_BATCH);
    if (swept < SWEEP_BATCH) this.#sweptAt = now;
  }

  async #claimDue(): Promise<void> {
    const { queue, clock, concurrency, attemptTimeoutMs } = this.#options;
    const now = clock.now();
    const ahead = { underWay: this.#underWay, ready: this.#ready, concurrency, attemptTimeoutMs };
    const planned = planClaim(ahead, now);
    // No timer is needed: the end of an attempt wakes the dispatcher.
    if (planned === undefined) return;
    const { request, beginBy } = planned;
    const claimed = await queue.claim(request);
    this.#ready = [...this.#ready, ...claimed.map((delivery) => ({ delivery, beginBy }))];
    this.#beginReady();
    if (claimed.length === request.limit) return;
    const next = await queue.nextDueAfter(now);
    if (next !== undefined) this.#wakeAt(Math.max(next, clock.now() + 1));
  }

  #beginReady(): void {
    if (this.#ready.length === 0 || this.#state === 'stopped') return;
    const now = this.#options.clock.now();
    const waiting: ReadyClaim[] = [];
    const late: ClaimedDelivery[] = [];
    for (const claim of this.#ready) {
      const step = nextStep(claim, this.#underWay, now);
      if (step === 'begin') this.#begin(claim.delivery);
      else if (step === 'wait') waiting.push(claim);
      else late.push(claim.delivery);
    }
    this.#ready = waiting;
    if (late.length > 0) void this.#release(late);
  }

  #begin(delivery: ClaimedDelivery): void {
    const { attempt, clock } = this.#options;
    const abort = new AbortController();
    const done: Promise<unknown> = attempt(delivery, abort.signal)
      .catch((error: unknown) => this.#releaseUnsettled(delivery, error, abort.signal))
      .finally(() => this.#ended(begun));
    const begun: AttemptUnderWay = { webhookId: delivery.webhookId, abort, done, since: clock.now() };
    this.#underWay.add(begun);
  }

  #ended(attempt: AttemptUnderWay): void {
    this.#underWay.delete(attempt);
    this.#beginReady();
    // Half of the claims are used up: time to claim more, before the slots run dry.
    if (this.#underWay.size + this.#ready.length <= this.#options.concurrency.total) this.wake();
  }

  /**
   * Keeps the slot for 5 s before it releases the claim of an attempt whose outcome was not stored. Without the pause a
   * store that rejects every write would make the host send the same delivery in a tight loop.
   */
  async #releaseUnsettled(delivery: ClaimedDelivery, error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    // An aborted attempt has not failed: its subscription was removed, or the host stops.
    if (!signal.aborted) {
      log({ level: 'error', event: 'delivery.not-settled', deliveryId: delivery.deliveryId, ...describeError(error) });
      const isEnded = AbortSignal.any([signal, this.#stopping.signal]);
      await sleep(clock, RELEASE_AFTER_MS, isEnded).catch(() => {});
    }
    await this.#release([delivery]);
  }

  async #release(claims: readonly Claim[]): Promise<void> {
    const { queue, log } = this.#options;
    try {
      await queue.release(claims);
      this.wake();
    } catch (cause) {
      // The leases of the claims expire.
      log({ level: 'error', event: 'delivery.not-released', deliveries: claims.length, ...describeError(cause) });
    }
  }

  #wakeAt(time: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.at(time, this.wake);
  }
}

const STORE_RETRY_MS = 1000;
const RELEASE_AFTER_MS = 5000;
const SWEEP_INTERVAL_MS = 60_000;
const SWEEP_BATCH = 500;
