import { networkInterfaces } from 'node:os';
import { type Address, parseAddress, sameAddress } from '../address.ts';

/** Whether an address belongs to this machine. The kernel routes such an address over loopback, even a public one. */
export type OwnAddresses = (address: Address) => boolean;

/**
 * The time in milliseconds for which the list is reused: interfaces change rarely, and reading them is a system call.
 */
const FRESH_MS = 2000;

/** Makes a check against the interfaces of this machine. @param now a monotonic clock in milliseconds */
export function ownAddresses(
  now: () => number = () => performance.now(),
  read: () => readonly Address[] = readInterfaces,
): OwnAddresses {
  let addresses: readonly Address[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (now() - readAt > FRESH_MS) {
      addresses = read();
      readAt = now();
    }
    for (const own of addresses) if (sameAddress(own, address)) return true;
    return false;
  };
}

function readInterfaces(): Address[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .flatMap((entry) => parseAddress(entry.address.replace(/%.*$/, '')) ?? []);
}
