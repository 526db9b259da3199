import { inCidr, parseAddress, parseCidr } from '@svc/egress-guard';

/** Makes a test whether an address is in one of the blocks. */
export function within(blocks: readonly string[]): (address: string) => boolean {
  const cidrs = blocks.map(parseCidr).filter((cidr) => cidr !== undefined);
  return (text) => {
    // A socket for both families names an IPv4 address in its mapped form.
    const address = parseAddress(text.replace(/^::ffff:(?=[\d.]+$)/i, ''));
    return address !== undefined && cidrs.some((cidr) => inCidr(address, cidr));
  };
}
