import type { EmailSource } from '../../ports/triggers.ts';
import { EmailRefused } from './refused.ts';

/** Requires that the trigger lists every recipient. @throws {EmailRefused} `recipient-not-listed` */
export function requireRecipients({ recipients }: EmailSource, rcptTo: readonly string[]): void {
  if (rcptTo.length > 0 && rcptTo.every((address) => isListed(recipients, address))) return;
  throw new EmailRefused('recipient-not-listed', 'is for a recipient that the trigger does not list');
}

/** Requires that the trigger lists every author. @throws {EmailRefused} `sender-not-listed` */
export function requireSenders({ senders }: EmailSource, authors: readonly string[]): void {
  if (authors.length > 0 && authors.every((address) => isListed(senders, address))) return;
  throw new EmailRefused('sender-not-listed', 'is of a sender that the trigger does not list');
}

/** An entry is an address, or `@` with a domain for all its addresses. Case makes no difference. */
function isListed(entries: readonly string[], address: string): boolean {
  const wanted = address.toLowerCase();
  const domain = wanted.slice(wanted.lastIndexOf('@'));
  return entries.some((entry) => entry === wanted || entry === domain);
}
