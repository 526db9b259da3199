import { type Address, embeddedIPv4, parseAddress, unmapped } from './address.ts';
import { inCidr } from './cidr.ts';
import { type EgressPolicy, opensLoopback } from './policy.ts';
import { specialRange } from './ranges.ts';

/** The judgement of an address. */
export type Verdict =
  /** The address may be called. */
  | { readonly allowed: true }
  /**
   * The address is denied. `range`, such as `private`, is for logs only: it reveals the kind of an internal address.
   */
  | { readonly allowed: false; readonly range: string };

/**
 * Judges an address in its plain form, as `URL`, DNS and `node:net` write it. Any other text is denied with the range
 * `not-an-address`.
 *
 * @param port the port of the call; it matters when loopback is opened by port. Default 443
 * @example
 * import { checkAddress, egressPolicy } from '@svc/egress-guard';
 *
 * checkAddress('169.254.169.254', egressPolicy()); // { allowed: false, range: 'link-local' }
 */
export function checkAddress(text: string, policy: EgressPolicy, port = 443): Verdict {
  const address = parseAddress(text);
  return address === undefined ? { allowed: false, range: 'not-an-address' } : classify(address, policy, port);
}

/**
 * Judges an address by its bytes: the operator's denials, then loopback by its switch, then the operator's permissions,
 * then the tables. A mapped IPv4 address is judged as the IPv4 address that it reaches.
 *
 * @param port the port of the call; it matters when loopback is opened by port
 * @example
 * import { classify, egressPolicy } from '@svc/egress-guard';
 *
 * classify(Uint8Array.of(127, 0, 0, 1), egressPolicy({ allowLoopback: [8080] }), 8080); // { allowed: true }
 */
export function classify(address: Address, policy: EgressPolicy, port: number): Verdict {
  const judged = unmapped(address);
  for (const cidr of policy.deny) if (inCidr(judged, cidr)) return OPERATOR;
  const range = specialRange(judged);
  if (range === undefined) return ALLOWED;
  if (range === LOOPBACK) return opensLoopback(policy, port) ? ALLOWED : { allowed: false, range };
  for (const cidr of policy.allow) if (inCidr(judged, cidr)) return ALLOWED;
  if (policy.translated === 'judge' && TRANSLATED.has(range)) return classifyEmbedded(judged, policy, port, range);
  return { allowed: false, range };
}

/** Whether the address is a loopback address: 127.0.0.0/8 or ::1. */
export function isLoopback(address: Address): boolean {
  return specialRange(unmapped(address)) === LOOPBACK;
}

const ALLOWED: Verdict = { allowed: true };
const OPERATOR: Verdict = { allowed: false, range: 'operator' };
const LOOPBACK = 'loopback';

/** The ranges that a gateway translates to IPv4. */
const TRANSLATED: ReadonlySet<string> = new Set(['nat64', '6to4']);

/**
 * Judges the IPv4 address inside. Loopback is denied: behind a gateway it is the gateway's own, so no switch opens it.
 */
function classifyEmbedded(address: Address, policy: EgressPolicy, port: number, range: string): Verdict {
  const inside = embeddedIPv4(address, range === 'nat64' ? 12 : 2);
  if (isLoopback(inside)) return { allowed: false, range };
  return classify(inside, policy, port).allowed ? ALLOWED : { allowed: false, range };
}
