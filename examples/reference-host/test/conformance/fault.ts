import type { ConformanceOptions, KeyName } from '@svc/conformance';
import type { Meddler } from './faulty-proxy.ts';
import type { HostName } from './hosts.ts';

/** A fault of a host, and the checks that must find it. */
export interface Fault {
  /** Behaviour of the host, as the end of a sentence that begins with "a host that". */
  readonly fault: string;
  /** Ids of checks. Each must fail under every major that it has. */
  readonly breaks: readonly string[];
  /** Ids of checks that run too, because their requests show the fault. They may pass. */
  readonly with?: readonly string[];
  /** Majors to check. Default: both. */
  readonly majors?: ConformanceOptions['majors'];
  /** Proxy in front of the host. */
  readonly host?: Meddler;
  /** Proxy between the host and the receiver. */
  readonly receiver?: Meddler;
  /** Host that has the fault. Default: `durable`. */
  readonly on?: HostName;
  /** Keys that are not passed to the suite. */
  readonly without?: readonly KeyName[];
  readonly options?: Partial<ConformanceOptions>;
}
