import type { Json } from '../json.ts';
import type { Transaction } from '../transaction.ts';
import type { Run } from './run.ts';

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
  insert(event: RunEvent, transaction: Transaction): Promise<void>;
  /** Up to `limit` events of a run with a sequence above `after`, in order. Holding the run is what permits it. */
  list(run: Run, page: { readonly after: number; readonly limit: number }): Promise<readonly RunEvent[]>;
}
