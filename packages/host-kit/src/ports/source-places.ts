import type { Transaction } from './transaction.ts';

/** The reading of a source by a host, as it is shown at the trigger. */
export interface SourceReading {
  /** `connecting`: the source is being opened. `reading`: it is open. `waiting`: the host opens it again after a pause. */
  readonly state: 'connecting' | 'reading' | 'waiting';
  /** The time of the last change, in ms since the epoch, by the clock of the store. */
  readonly changedAt: number;
  /** The failures since the last message. */
  readonly failures: number;
  /** The reason of the last failure. Without content of a message. Absent: there was none since the last message. */
  readonly problem?: string;
}

/** The place up to which the source of a trigger is read, and the host that reads it. */
export interface SourcePlace {
  readonly triggerId: string;
  /** The claim of a host: an id that no other claim has. */
  readonly reader: string;
  /** The end of the claim, in ms since the epoch, by the clock of the store. Another host may claim the place from then on. */
  readonly leaseUntil: number;
  /** The place after the last message that is durable. Absent: none was read. */
  readonly cursor?: string;
  readonly reading: SourceReading;
}

/** A request for the place of a trigger. */
export interface PlaceClaim extends Pick<SourcePlace, 'triggerId' | 'reader' | 'leaseUntil'> {
  /** In ms since the epoch, by the clock of the store. */
  readonly now: number;
}

/** The places of sources that hosts read by themselves. */
export interface SourcePlaceStore {
  /**
   * Claims the place of a trigger, or prolongs the claim. Of concurrent claims, one succeeds. The cursor stays. A lease that ends more
   * than `LEASE_EXCESS_MS` after `leaseUntil` was set by a clock that was ahead, and has ended.
   *
   * @returns the place; undefined while another reader has it
   */
  claimPlace(claim: PlaceClaim): Promise<SourcePlace | undefined>;
  /**
   * Stores the cursor and the reading of a place. Returns false, and writes nothing, when another reader has claimed it meanwhile. Until
   * the transaction ends, no other host claims it.
   */
  savePlace(place: Omit<SourcePlace, 'leaseUntil'>, transaction: Transaction): Promise<boolean>;
  /** Ends a claim, so that another host need not wait for the end of its lease. */
  releasePlace(claim: Pick<SourcePlace, 'triggerId' | 'reader'>): Promise<void>;
  /** Returns the places of triggers, in any order. A trigger that no host has read yet has none. */
  places(triggerIds: readonly string[]): Promise<readonly SourcePlace[]>;
}

/** A lease that ends so much later than that of a new claim was set by a clock that was ahead, in ms. */
export const LEASE_EXCESS_MS = 60_000;

/**
 * Returns the reading of a place that was never claimed before.
 *
 * @example
 * const { reading = firstReading(now) } = found ?? {}; // in `claimPlace` of a store of your own
 */
export function firstReading(now: number): SourceReading {
  return { state: 'connecting', changedAt: now, failures: 0 };
}
