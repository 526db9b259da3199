import type { Backlog } from '../ports/backlog.ts';
import { sleep, within } from '../ports/clock.ts';
import type { ClaimedDelivery, ClaimedFor, DeliveryQueue, ReleasedClaim } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { AttemptResult } from './attempt-result.ts';
import { AttemptsUnderWay, type AttemptUnderWay } from './attempts-under-way.ts';
import { type ClaimState, isClaimDue, leaseMs, planClaim } from './claims-ahead.ts';
import type { Concurrency } from './concurrency.ts';
import { BoundedHandOver, type HandOver } from './hand-over.ts';
import type { HeldSubscriptions } from './held.ts';
import { type LaneChanged, Lanes } from './lanes.ts';
import { type Place, Places } from './places.ts';
import { type ReadyClaim, TurnOrder } from './turn-order.ts';

/**
 * Attempts the deliveries of the outbox, each when it is due: as many at a time as allowed, in turn over tenants, and
 * over the subscriptions of each.
 */
export interface Dispatcher {
  /** Hands over the deliveries that this host adds to the outbox. */
  readonly handOver: HandOver;
  start(): void;
  /** Looks for due deliveries now. Call it after an enqueue. */
  readonly wake: () => void;
  /** Aborts the attempts of a removed subscription, and begins none of those already claimed. */
  forget(webhookId: string): void;
  /**
   * Returns the deliveries that were handed over and not begun, which the queue does not count as due.
   *
   * @param webhookIds the subscriptions whose deliveries count. Default: all
   */
  handedOver(webhookIds?: readonly string[]): Backlog;
  /** Reports the progress of the work, for health checks. */
  progress(): DispatcherProgress;
  /** Begins nothing more, waits up to `graceMs` ms for attempts to end, aborts the rest and releases their claims. */
  stop(graceMs: number): Promise<void>;
}

/** Start times in ms of the monotonic clock; undefined when there is nothing of the kind. */
export interface DispatcherProgress {
  /** When the current round began. */
  readonly roundSince: number | undefined;
  /** When the first of the failed rounds in a row failed. */
  readonly failingSince: number | undefined;
  /** When the oldest attempt under way began. */
  readonly attemptSince: number | undefined;
}

export interface DispatcherOptions extends Pick<HostPorts, 'clock' | 'log'> {
  /** Deliveries are due by it, and claims end by it. */
  readonly storeClock: StoreClock;
  readonly queue: DeliveryQueue;
  /**
   * Attempts and settles one delivery. Ends by itself, or by the signal. A rejection releases the claim, after a pause
   * of 5 s. The verdict decides the lane of the subscription.
   */
  readonly attempt: (
    delivery: ClaimedDelivery,
    signal: AbortSignal,
    place: Place,
  ) => Promise<Pick<AttemptResult, 'verdict' | 'settlement'> | undefined>;
  readonly concurrency: Concurrency;
  /** The longest delay of a retry, in ms. A delivery that would wait longer was stored by another clock. */
  readonly maxDelayMs: number;
  /** Default: nothing. */
  readonly laneChanged?: LaneChanged;
  /** The longest time that an attempt can take, in ms. A claim outlives it. */
  readonly attemptTimeoutMs: number;
  /** The subscriptions of which nothing is claimed for now. */
  readonly held?: Pick<HeldSubscriptions, 'isHeld' | 'nextEnd'>;
}

export function dispatcher(options: DispatcherOptions): Dispatcher {
  return new OutboxDispatcher(options);
}

/**
 * Works in rounds. A round deletes expired dead letters, claims due deliveries and begins their attempts. A wake-up
 * starts one: by an enqueue, by the timer of the next due delivery, or by attempts that end while more may be due. New
 * deliveries that are handed over need no round.
 */
class OutboxDispatcher implements Dispatcher {
  readonly #options: DispatcherOptions;
  /** Attempts that have begun and not ended. */
  readonly #underWay = new AttemptsUnderWay();
  /** Claims whose attempts have not begun. */
  readonly #ready = new TurnOrder();
  readonly #lanes: Lanes;
  readonly #places: Places;
  readonly #handOver: BoundedHandOver;
  /** The number of attempts that have ended since the last claim. */
  #endedSinceClaim = 0;
  /** How often it was noted that the queue may have due deliveries. */
  #notes = 1;
  /** The notes that a claim has seen to: it has left nothing that is due. */
  #notesDone = 0;
  /** `idle` before `start`. A stopped dispatcher begins nothing. */
  #state: 'idle' | 'running' | 'stopped' = 'idle';
  /** Aborted by `stop`: ends the pauses before claims are released. */
  readonly #stopping = new AbortController();
  /** The rounds under way; undefined between rounds. */
  #rounds: Promise<void> | undefined;
  /** Set by a wake-up. A wake-up during a round asks for another round after it. */
  #isRoundDue = false;
  /** Cancels the timer of the release of late claims; undefined when there is none. */
  #cancelRelease: (() => void) | undefined;
  /** Cancels the timer of the next round. */
  #cancelTimer = (): void => {};
  /** When the last sweep deleted every expired dead letter, in ms of the monotonic clock. */
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** When waits were last limited, in ms of the monotonic clock. */
  #limitedAt = Number.NEGATIVE_INFINITY;
  /** See `DispatcherProgress`. */
  #roundSince: number | undefined;
  /** See `DispatcherProgress`. */
  #failingSince: number | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.laneChanged);
    this.#places = new Places(options.concurrency, this.#lanes);
    this.#handOver = new BoundedHandOver({
      state: this.#claimState(),
      isRunning: () => this.#state === 'running',
      begin: (claims) => this.#addReady(claims),
      wake: this.wake,
      left: (subscriptions) => this.#noteMore(subscriptions),
    });
  }

  get handOver(): HandOver {
    return this.#handOver;
  }

  start(): void {
    this.#state = 'running';
    this.wake();
  }

  readonly wake = (): void => {
    if (this.#state !== 'running') return;
    this.#isRoundDue = true;
    this.#notes += 1;
    this.#rounds ??= this.#runRounds().finally(() => {
      this.#rounds = undefined;
      this.#roundSince = undefined;
      if (this.#isRoundDue) this.wake();
    });
  };

  forget(webhookId: string): void {
    this.#ready.remove(({ delivery }) => delivery.webhookId === webhookId);
    this.#lanes.forget(webhookId);
    this.#underWay.abortOf(webhookId);
  }

  handedOver(webhookIds?: readonly string[]): Backlog {
    const asked = webhookIds && new Set(webhookIds);
    let due = 0;
    let oldestDueAt: number | undefined;
    for (const { delivery, isHandedOver } of this.#ready.all()) {
      if (isHandedOver !== true || asked?.has(delivery.webhookId) === false) continue;
      due += 1;
      oldestDueAt = Math.min(oldestDueAt ?? delivery.dueAt, delivery.dueAt);
    }
    return { due, oldestDueAt };
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
    this.#cancelRelease?.();
    this.#stopping.abort();
    await this.#rounds;
    await this.#releaseReady();
    await within(this.#options.clock, graceMs, this.#underWay.ended());
    this.#underWay.abortAll();
    await this.#underWay.ended();
  }

  async #runRounds(): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#isRoundDue && this.#state === 'running') {
      this.#isRoundDue = false;
      this.#cancelTimer();
      this.#roundSince = clock.monotonic();
      try {
        await this.#sweep();
        await this.#limitWaits();
        await this.#claimDue();
        this.#failingSince = undefined;
      } catch (error) {
        this.#failingSince ??= clock.monotonic();
        log({ level: 'error', event: 'dispatcher.store-failed', ...describeError(error) });
        this.#wakeAfter(STORE_RETRY_MS);
      }
    }
  }

  /** Deletes one batch of expired dead letters, once a minute. A full batch leaves the rest to the next round. */
  async #sweep(): Promise<void> {
    const { queue, clock, storeClock } = this.#options;
    const since = clock.monotonic();
    if (since - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    const swept = await queue.sweep(await storeClock.read(), SWEEP_BATCH);
    if (swept < SWEEP_BATCH) this.#sweptAt = since;
  }

  /**
   * Brings forward, once a minute, what waits longer than any wait may be. A clock that was ahead stored it: without
   * this a host that starts again with a clock a day earlier would deliver a day late.
   */
  async #limitWaits(): Promise<void> {
    const { queue, clock, storeClock, maxDelayMs, attemptTimeoutMs } = this.#options;
    const since = clock.monotonic();
    if (since - this.#limitedAt < SWEEP_INTERVAL_MS) return;
    const now = await storeClock.read();
    await queue.limitWaits({ dueBy: now + maxDelayMs, leaseUntil: now + leaseMs(attemptTimeoutMs) });
    this.#limitedAt = since;
  }

  async #claimDue(): Promise<void> {
    const { queue, storeClock, held } = this.#options;
    const now = await storeClock.read();
    const planned = planClaim(this.#claimState(), now);
    // No timer is needed: the end of an attempt wakes the dispatcher.
    if (planned === undefined) return;
    const { request, beginBy } = planned;
    this.#endedSinceClaim = 0;
    const notes = this.#notes;
    this.#handOver.claimBegins();
    const claimed = await queue.claim(request);
    this.#addReady(claimed.map((delivery) => ({ delivery, beginBy })));
    const isWhole = claimed.length < request.limit;
    if (isWhole && !request.room.wasShort) this.#notesDone = notes;
    this.#handOver.claimed(isWhole, request.room);
    if (!isWhole) return;
    const nextDue = await queue.nextDueAfter(now);
    const times = [nextDue, held?.nextEnd(now)].filter((time) => time !== undefined);
    if (times.length > 0) this.#wakeAfter(Math.max(Math.min(...times) - storeClock.now(), 1));
  }

  /** Looks into the queue for deliveries of subscriptions: at once, unless the places of their tenants are taken. Attempts that end look later. */
  #noteMore(subscriptions: readonly ClaimedFor[]): void {
    this.#notes += 1;
    if (subscriptions.some(({ tenant }) => this.#places.hasRoomForTenant(tenant))) this.wake();
  }

  #addReady(claims: readonly ReadyClaim[]): void {
    for (const claim of claims) this.#ready.add(claim);
    // Handed over while the host stops: nothing begins any more.
    if (this.#state === 'stopped') void this.#releaseReady();
    else this.#beginReady();
    this.#releaseInTime();
  }

  /** Sees to it that late claims are released when no attempt ends, either. */
  #releaseInTime(): void {
    const { clock, storeClock } = this.#options;
    const { firstBeginBy } = this.#ready;
    if (this.#cancelRelease !== undefined || this.#state === 'stopped' || firstBeginBy === Infinity) return;
    this.#cancelRelease = clock.after(Math.max(firstBeginBy - storeClock.now(), 0) + 1, () => {
      this.#cancelRelease = undefined;
      this.#beginReady();
      this.#releaseInTime();
    });
  }

  #claimState(): ClaimState {
    const { concurrency, attemptTimeoutMs, held } = this.#options;
    return { underWay: this.#underWay, ready: this.#ready, lanes: this.#lanes, concurrency, attemptTimeoutMs, held };
  }

  /** Begins the attempts that have room, in the order of the turns. Releases the claims that have waited too long. */
  #beginReady(): void {
    if (this.#ready.size === 0 || this.#state === 'stopped') return;
    const now = this.#options.storeClock.now();
    const late = this.#ready.removeLate(now);
    for (let next = this.#ready.next(this.#places); next !== undefined; next = this.#ready.next(this.#places)) {
      this.#begin(next.delivery);
    }
    if (late.length > 0) void this.#release(late.map(({ delivery }) => delivery));
  }

  #begin(delivery: ClaimedDelivery): void {
    const { attempt, clock } = this.#options;
    const { tenant, webhookId } = delivery;
    const abort = new AbortController();
    const { lane, giveBack } = this.#places.take(delivery);
    const giveBackEarly = () => {
      giveBack();
      this.#beginReady();
    };
    const perform = async (): Promise<void> => {
      try {
        const result = await attempt(delivery, abort.signal, { lane, giveBack: giveBackEarly });
        this.#lanes.ended(webhookId, result?.verdict);
        if (!hasLeft(result?.settlement)) this.#notes += 1;
      } catch (error) {
        await this.#releaseUnsettled(delivery, error, abort.signal);
      } finally {
        giveBack();
        this.#ended(begun);
      }
    };
    const begun: AttemptUnderWay = { tenant, webhookId, abort, done: perform(), since: clock.monotonic() };
    this.#underWay.add(begun);
  }

  #ended(attempt: AttemptUnderWay): void {
    this.#underWay.delete(attempt);
    this.#endedSinceClaim += 1;
    this.#beginReady();
    if (this.#notes === this.#notesDone) return;
    if (isClaimDue(this.#claimState(), attempt.tenant, this.#endedSinceClaim)) this.wake();
  }

  /**
   * Keeps the place for 5 s before it releases the claim of an attempt whose outcome was not stored. Without the pause a
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

  async #releaseReady(): Promise<void> {
    const unbegun = this.#ready.remove(() => true);
    if (unbegun.length > 0) await this.#release(unbegun.map(({ delivery }) => delivery));
  }

  async #release(claims: readonly ReleasedClaim[]): Promise<void> {
    const { queue, storeClock, log } = this.#options;
    try {
      await queue.release(claims, storeClock.now());
    } catch (cause) {
      log({ level: 'error', event: 'delivery.not-released', deliveries: claims.length, ...describeError(cause) });
    }
    // The deliveries are due, or the next round notes when their claims end.
    this.wake();
  }

  #wakeAfter(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, this.wake);
  }
}

/** Returns whether an attempt ended with its delivery out of the queue. */
function hasLeft(settlement: AttemptResult['settlement']): boolean {
  return settlement?.kind === 'delivered' || settlement?.kind === 'dropped';
}

const STORE_RETRY_MS = 1000;
const RELEASE_AFTER_MS = 5000;
const SWEEP_INTERVAL_MS = 60_000;
const SWEEP_BATCH = 500;
