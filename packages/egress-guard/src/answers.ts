import { type Address, parseAddress } from './address.ts';
import { classify } from './classify.ts';
import type { EgressPolicy } from './policy.ts';

export type AnswersCheck =
  | { readonly ok: true; readonly addresses: readonly Address[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Judges a whole set of DNS answers. One denied address denies them all: a mixed set is an attack, not an accident.
 *
 * @param own whether an address is one of this machine's interfaces
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
