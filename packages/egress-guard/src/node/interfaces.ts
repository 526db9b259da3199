import { networkInterfaces } from 'node:os';
import { type Address, parseAddress, sameAddress } from '../address.ts';

/** Whether an address is one of this machine's own: the kernel routes those over loopback, whatever network they are of. */
export function isOwnAddress(address: Address): boolean {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .some((entry) => {
      const own = parseAddress(entry.address.replace(/%.*$/, ''));
      return own !== undefined && sameAddress(own, address);
    });
}
