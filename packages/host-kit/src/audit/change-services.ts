import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { RecordAudit } from './fact.ts';

/** The ports of an operation that changes something for a caller and records the change in the same transaction. */
export interface ChangeServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly recordAudit: RecordAudit;
}
