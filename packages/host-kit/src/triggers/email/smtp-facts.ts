import { isIP } from 'node:net';
import { invalid } from '../../errors.ts';
import type { SmtpFacts } from '../../ports/email.ts';

/** The headers in which a relay tells the facts of its session. */
export const SMTP_HEADERS = {
  clientAddress: 'SVC-Client-Address',
  helo: 'SVC-Helo',
  mailFrom: 'SVC-Mail-From',
  rcptTo: 'SVC-Rcpt-To',
} as const;

/**
 * Reads the facts of the session from the headers of the relay. Characters beyond ASCII, and `%` and `,` in an address, are
 * percent-encoded in UTF-8.
 *
 * @throws {HostError} `validation_error`
 */
export function smtpFactsIn(headers: Headers): SmtpFacts {
  const clientAddress = required(headers, SMTP_HEADERS.clientAddress);
  if (isIP(clientAddress) === 0) throw wrong(SMTP_HEADERS.clientAddress, 'must be an IP address');
  const helo = required(headers, SMTP_HEADERS.helo);
  if (!HELO.test(helo)) throw wrong(SMTP_HEADERS.helo, 'must be a name of a host or an address in brackets');
  const mailFrom = addressIn(SMTP_HEADERS.mailFrom, required(headers, SMTP_HEADERS.mailFrom), 'or <>');
  const rcptTo = required(headers, SMTP_HEADERS.rcptTo)
    .split(',')
    .map((address) => addressIn(SMTP_HEADERS.rcptTo, address.trim(), 'without <>'));
  if (rcptTo.length > MOST_RECIPIENTS)
    throw wrong(SMTP_HEADERS.rcptTo, `must have at most ${MOST_RECIPIENTS} addresses`);
  if (rcptTo.includes('')) throw wrong(SMTP_HEADERS.rcptTo, 'must have addresses, separated by commas');
  return { clientAddress, helo, mailFrom, rcptTo };
}

const MOST_RECIPIENTS = 100;
const HELO = /^(?:[A-Za-z0-9._-]{1,255}|\[[A-Fa-f0-9.:IPVipv]{2,60}\])$/;
/** RFC 5321, section 4.5.3.1, with both parts; without control characters and the signs that enclose or separate. */
const ADDRESS = /^[^\s<>,@\p{Cc}][^<>\p{Cc}]{0,252}@[^\s<>,@\p{Cc}]{1,255}$/u;

function required(headers: Headers, name: string): string {
  const value = headers.get(name)?.trim() ?? '';
  if (value !== '') return value;
  throw wrong(name, 'is missing. The relay sets it');
}

function addressIn(name: string, text: string, form: string): string {
  const [, inside = text] = /^<(.*)>$/.exec(text) ?? [];
  if (inside === '') return '';
  const address = decoded(inside);
  if (address !== undefined && ADDRESS.test(address)) return address;
  throw wrong(name, `must be an address such as ada@example.com, ${form}, in percent-encoded UTF-8`);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function wrong(name: string, problem: string) {
  return invalid({ field: `header.${name}`, problem });
}
