import type { HostPorts } from '../ports/host-ports.ts';
import type { RecordAudit } from './fact.ts';

/** The ports of an operation that changes something for a caller and records the change in the same transaction. */
export interface ChangeServices extends Pick<HostPorts, 'store' | 'clock'> {
  readonly recordAudit: RecordAudit;
}
