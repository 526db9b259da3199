import type { RecordAudit } from '../audit/fact.ts';
import type { HostPorts } from '../ports/host-ports.ts';

/** The parts of a host that its keys use. */
export interface KeyParts extends Pick<HostPorts, 'clock' | 'log' | 'store'> {
  readonly recordAudit: RecordAudit;
}
