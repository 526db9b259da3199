import type { RefusalLimit } from '@svc/auth';
import type { ApiKeyLaneOptions } from '@svc/auth/api-key';
import { clientAddress } from '@svc/auth/rate-limit';
import { within } from './address-blocks.ts';
import type { Config } from './config.ts';

/** The proxies of `mtls.trustedTerminator` are trusted with certificates alone: they may pass on any other header. */
export function clientOf({ trustedProxies }: Config): RefusalLimit['clientOf'] {
  if (trustedProxies === undefined) return clientAddress();
  const { cidrs, hops, header } = trustedProxies;
  return clientAddress({ isTrustedPeer: within(cidrs), header, ...(hops !== undefined && { hops }) });
}

/** Judges the address of the client that `trustedProxies` tells. The address of an IPv6 client is that of its /64. */
export function isWithin(config: Config): NonNullable<ApiKeyLaneOptions['isWithin']> {
  const client = clientOf(config);
  // The list of a record is the same object for as long as the record is in memory.
  const judges = new WeakMap<readonly string[], (address: string) => boolean>();
  return (request, blocks) => {
    const judge = judges.get(blocks) ?? within(blocks);
    judges.set(blocks, judge);
    const address = client(request);
    return address !== undefined && judge(address.replace(/\/64$/, ''));
  };
}
