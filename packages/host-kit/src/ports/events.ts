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
