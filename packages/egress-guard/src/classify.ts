import { type Address, unmapped } from './address.ts';
import { inCidr } from './cidr.ts';
import { type EgressPolicy, opensLoopback } from './policy.ts';
import { RANGES_V4, RANGES_V6 } from './ranges.ts';

export type Verdict =
  | { readonly allowed: true }
  /** `range` is for logs: it tells what of the inside a name pointed at. */
  | { readonly allowed: false; readonly range: string };

/**
 * Judges an address by its bytes: the operator's denials, then loopback by its switch, then the operator's permissions, then
 * the table. A mapped IPv4 address is judged as the IPv4 address that it reaches.
 */
export function classify(address: Address, policy: EgressPolicy, port: number): Verdict {
  const judged = unmapped(address);
  if (policy.deny.some((cidr) => inCidr(judged, cidr))) return { allowed: false, range: 'operator' };
  const range = rangeOf(judged);
  if (range === undefined) return ALLOWED;
  if (range === LOOPBACK) return opensLoopback(policy, port) ? ALLOWED : { allowed: false, range };
  if (policy.allow.some((cidr) => inCidr(judged, cidr))) return ALLOWED;
  return { allowed: false, range };
}

/** Whether the address is this machine's own by definition: 127.0.0.0/8 or ::1. */
export function isLoopback(address: Address): boolean {
  return rangeOf(unmapped(address)) === LOOPBACK;
}

const ALLOWED: Verdict = { allowed: true };
const LOOPBACK = 'loopback';

/** The denied range that an address lies in; undefined for one of the public internet. */
function rangeOf(address: Address): string | undefined {
  for (const { cidr, name, reachable } of address.length === 4 ? RANGES_V4 : RANGES_V6) {
    if (inCidr(address, cidr)) return reachable ? undefined : name;
  }
  return undefined;
}
