import { type Address, parseAddress } from './address.ts';
import { classify } from './classify.ts';
import type { EgressPolicy } from './policy.ts';

/** The judgement of a set of DNS answers. */
export type AnswersCheck =
  /** Every address is allowed. */
  | { readonly ok: true; readonly addresses: readonly Address[] }
  /** The set is denied. `reason` is a range such as `private`, or `no-address`; it is for logs only. */
  | { readonly ok: false; readonly reason: string };

/**
 * Judges a whole set of DNS answers. One denied address denies the set: a mixed set indicates an attack.
 *
 * @param answers the addresses as text, at most 64
 * @param port the port of the call; it matters when loopback is opened by port
 * @param own whether an address belongs to an interface of this machine
 * @example
 * import { checkAnswers, egressPolicy } from '@svc/egress-guard';
 *
 * const check = checkAnswers(['8.8.8.8', '10.0.0.1'], egressPolicy(), 443, () => false);
 * console.log(check); // { ok: false, reason: 'private' }
 */
export function checkAnswers(
  answers: readonly string[],
  policy: EgressPolicy,
  port: number,
  own: (address: Address) => boolean,
): AnswersCheck {
  if (answers.length === 0) return { ok: false, reason: 'no-address' };
  if (answers.length > MAX_ANSWERS) return { ok: false, reason: 'too-many-addresses' };
  const addresses: Address[] = [];
  for (const text of answers) {
    const address = parseAddress(text);
    if (address === undefined) return { ok: false, reason: 'not-an-address' };
    const verdict = classify(address, policy, port);
    if (!verdict.allowed) return { ok: false, reason: verdict.range };
    if (own(address)) return { ok: false, reason: 'own-address' };
    addresses.push(address);
  }
  return { ok: true, addresses };
}

const MAX_ANSWERS = 64;
