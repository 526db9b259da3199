import type { ConformanceOptions, KeyName } from '@svc/conformance';
import type { Meddler } from './faulty-proxy.ts';
import type { HostName } from './hosts.ts';

/** Something that a host may do wrong, and the checks that must find it. */
export interface Fault {
  /** What the host does. */
  readonly fault: string;
  /** Ids of checks. Each of them must fail, under every major that it has. */
  readonly breaks: readonly string[];
  /** Where only one of the majors is affected. */
  readonly majors?: ConformanceOptions['majors'];
  /** What stands before the host. */
  readonly host?: Meddler;
  /** What stands between the host and the receiver. */
  readonly receiver?: Meddler;
  /** The host that it is done to; `durable` without it. */
  readonly on?: HostName;
  /** Keys that the suite is not given. */
  readonly without?: readonly KeyName[];
  readonly options?: Partial<ConformanceOptions>;
}
