import type { Tenancy } from '@svc/auth';
import type { Json } from '../json.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** One event of a run's log. Immutable once it is appended. */
export interface RunEvent {
  /** Unique among all events, `evt_…`. */
  readonly eventId: string;
  readonly runId: string;
  /** The event's name in the vocabulary of major 2, such as `node.completed`, for readers of either major. */
  readonly type: string;
  /** Position in the run's log: 0 for the first event, one more for each event after it. */
  readonly sequence: number;
  /** Time of the append, in ms since the epoch. */
  readonly timestamp: number;
  /** The event's data. Its form depends on `type`. */
  readonly payload: Json;
  /** Version of the payload's schema. */
  readonly schemaVersion: number;
  /** The run's `engineVersion`. */
  readonly engineVersion: number;
  /** The node that the event is about. Absent: the event is about the whole run. */
  readonly nodeId?: string;
  /** Id of the cause, as the engine gave it. Absent: the engine named none. */
  readonly causationId?: string;
}

/** The event logs of all runs. */
export interface EventStore {
  /**
   * Appends events to the logs of their runs. Events of one run come in ascending `sequence`.
   *
   * @throws {Error} when the log of a run already has an event of the same `sequence`
   */
  insert(events: readonly RunEvent[], transaction: Transaction): Promise<void>;
  /** Returns a page of a run's log by ascending `sequence`. The caller's right to the run is its right to the log. */
  list(run: Run, page: EventPage): Promise<readonly RunEvent[]>;
  /**
   * Looks at the next events of all runs in the order of their positions, and returns those of runs that the caller
   * reaches. Events of one run come in ascending `sequence`. An event that commits later has a higher position than
   * every event that was looked at before, even when its transaction began earlier. The store may hold an event back
   * until all transactions that could get a lower position have ended.
   */
  listAll(tenancy: Tenancy, page: AllEventsPage): Promise<AllEvents>;
  /**
   * Returns the position of the last event that `listAll` would look at now, or would have looked at before its run was
   * removed; `BEFORE_ALL_EVENTS` when there was none.
   */
  newest(): Promise<EventPosition>;
  /**
   * Returns the highest position among the events of removed runs of the caller's tenant and mode; `BEFORE_ALL_EVENTS`
   * when none was removed. A reader that continues from a lower position may have missed events.
   */
  removedUpTo(tenancy: Pick<Tenancy, 'tenant' | 'mode'>): Promise<EventPosition>;
}

/**
 * A position in the order of the events of all runs. Positions are compared by `order`, then by `index`. Both are whole
 * numbers, and no two events have the same.
 */
export interface EventPosition {
  readonly order: number;
  readonly index: number;
}

/** The position before the first event. */
export const BEFORE_ALL_EVENTS: EventPosition = { order: 0, index: 0 };

/** An event with its position among the events of all runs. */
export interface PositionedEvent {
  readonly position: EventPosition;
  readonly event: RunEvent;
}

/** Bounds of one page of the events of all runs. */
export interface AllEventsPage {
  /** Looks only at events with a higher position. */
  readonly after: EventPosition;
  /** Maximum number of events that are looked at, those of other callers included. */
  readonly limit: number;
  /** Returns events of these types alone, by their stored names. Default: all. */
  readonly types?: readonly string[];
  /**
   * Ends the page with the event that brings the returned payloads, each as UTF-8 JSON, to this many bytes or more.
   * Default: no limit.
   */
  readonly maxBytes?: number;
}

/** One page of the events of all runs. */
export interface AllEvents {
  readonly events: readonly PositionedEvent[];
  /** The position of the last event that was looked at, which need not be returned; `after` when there was none. */
  readonly last: EventPosition;
}

/** Bounds of one page of an event log. */
export interface EventPage {
  /** Returns only events with a higher `sequence`. -1 begins with the first event. */
  readonly after: number;
  /** Maximum number of events. */
  readonly limit: number;
  /**
   * Ends the page with the event that brings the payloads, each as UTF-8 JSON, to this many bytes or more. A page
   * therefore has at least one event, however long, if the log has one. Default: no limit.
   */
  readonly maxBytes?: number;
}
