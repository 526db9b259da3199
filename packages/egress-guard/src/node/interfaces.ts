import { networkInterfaces } from 'node:os';
import { type Address, parseAddress, sameAddress } from '../address.ts';

/** Whether an address is one of this machine's own: the kernel routes those over loopback, whatever network they are of. */
export type OwnAddresses = (address: Address) => boolean;

/** Interfaces come and go rarely, and reading them is a system call. */
const FRESH_MS = 2000;

/** @param now milliseconds, of a clock that does not go back */
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
