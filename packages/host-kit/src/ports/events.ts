import type { Json } from '../json.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** One event of a run's log, immutable once appended. `type` is in the stored vocabulary, which is major 2's. */
export interface RunEvent {
  readonly eventId: string;
  readonly runId: string;
  readonly type: string;
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly payload: Json;
  readonly schemaVersion: number;
  readonly engineVersion: number;
  readonly nodeId?: string;
  readonly causationId?: string;
}

export interface EventStore {
  /** Appends to the logs of runs, each in its order. */
  insert(events: readonly RunEvent[], transaction: Transaction): Promise<void>;
  /** A page of a run's log, in order. Holding the run is what permits it. */
  list(run: Run, page: EventPage): Promise<readonly RunEvent[]>;
}

export interface EventPage {
  /** Only events with a higher sequence. */
  readonly after: number;
  /** So many at the most. */
  readonly limit: number;
  /** No more after the event with which their payloads, as JSON, are so long. Default: as long as they are. */
  readonly maxBytes?: number;
}
