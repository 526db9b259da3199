import { type Cidr, parseCidr } from './cidr.ts';

export interface EgressPolicyOptions {
  /**
   * Opens `http://` and `https://` to this machine (127.0.0.0/8, ::1 and the name `localhost`), on every port or on those
   * listed. For development: whoever may register a URL reaches every service that listens there.
   */
  readonly allowLoopback?: boolean | readonly number[];
  /** Denied whatever else allows them. */
  readonly denyCidrs?: readonly string[];
  /** Allowed although the tables deny them; loopback is not opened by this. */
  readonly allowCidrs?: readonly string[];
}

/** What may be called, checked once. */
export interface EgressPolicy {
  readonly loopbackPorts: 'none' | 'any' | ReadonlySet<number>;
  readonly deny: readonly Cidr[];
  readonly allow: readonly Cidr[];
}

/**
 * Checks a policy. Without options it allows the public internet over https, and nothing else.
 *
 * @throws {TypeError} naming the entry that is not a block of addresses or a port
 */
export function egressPolicy(options: EgressPolicyOptions = {}): EgressPolicy {
  return {
    loopbackPorts: loopbackPorts(options.allowLoopback ?? false),
    deny: (options.denyCidrs ?? []).map((text) => required('denyCidrs', text)),
    allow: (options.allowCidrs ?? []).map((text) => required('allowCidrs', text)),
  };
}

/** Whether the loopback switch opens a port. */
export function opensLoopback({ loopbackPorts }: EgressPolicy, port: number): boolean {
  if (loopbackPorts === 'none') return false;
  return loopbackPorts === 'any' || loopbackPorts.has(port);
}

function loopbackPorts(option: boolean | readonly number[]): EgressPolicy['loopbackPorts'] {
  if (typeof option === 'boolean') return option ? 'any' : 'none';
  for (const port of option) {
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new TypeError(`allowLoopback: ${port} is not a port.`);
  }
  return new Set(option);
}

function required(name: string, text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    throw new TypeError(`${name}: "${text}" is not a block of addresses such as 10.0.0.0/8 or fd00::/8.`);
  }
  return cidr;
}
