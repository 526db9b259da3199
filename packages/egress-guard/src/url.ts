import { type Address, parseAddress } from './address.ts';
import { classify, isLoopback } from './classify.ts';
import { isDeniedName, isOrdinaryName, LOCALHOST, withoutEmptyLabels } from './names.ts';
import { type EgressPolicy, opensLoopback } from './policy.ts';
import type { UrlRejection } from './rejection.ts';

/** A URL that passed: store and call its `href`, never the text that was given. */
export interface CheckedUrl {
  readonly href: string;
  readonly protocol: 'http:' | 'https:';
  readonly port: number;
  /** For the TLS name and the Host header. */
  readonly hostname: string;
  /** The host as an address, where the URL has one. */
  readonly literal: Address | undefined;
  /** The host is the name `localhost`, which the loopback switch opened. */
  readonly localhost: boolean;
}

export type UrlCheck =
  | { readonly ok: true; readonly url: CheckedUrl }
  | { readonly ok: false; readonly reason: UrlRejection };

/**
 * Judges a URL as it stands, without any use of the network.
 *
 * @example
 * const checked = checkUrl(givenByAStranger, egressPolicy());
 * if (!checked.ok) throw new Error(checked.reason); // 'host_not_allowed', …
 * @see Interface: Webhook URL rules at registration
 */
export function checkUrl(text: string, policy: EgressPolicy): UrlCheck {
  if (text.length > MAX_URL_LENGTH) return refuse('url_too_long');
  const url = parseUrl(text);
  if (url === undefined) return refuse('malformed_url');
  const { protocol } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return refuse('scheme_not_https');
  if (url.username !== '' || url.password !== '') return refuse('credentials_in_url');
  const given = url.port;
  const port = given === '' ? DEFAULT_PORT[protocol] : Number(given);
  if (port === 0) return refuse('port_not_allowed');

  const host = url.hostname;
  if (protocol === 'https:' && policy.ports === 'any' && isOrdinaryName(host, policy)) {
    return accept(url, protocol, port, host, undefined, false);
  }
  const hostname = plainHost(host);
  if (hostname === undefined) return refuse('host_not_allowed');
  const literal = parseAddress(hostname);
  if (literal === undefined && isNoName(hostname)) return refuse('host_not_allowed');
  const isLocal = literal === undefined ? hostname === LOCALHOST : isLoopback(literal);
  const opened = isLocal && opensLoopback(policy, port);
  if (protocol === 'http:' && !opened) return refuse('scheme_not_https');
  if (!opened) {
    if (policy.ports !== 'any' && !policy.ports.has(port)) return refuse('port_not_allowed');
    const isAllowed = literal === undefined ? !isDeniedName(hostname, policy) : classify(literal, policy, port).allowed;
    if (!isAllowed) return refuse('host_not_allowed');
  }
  return accept(url, protocol, port, hostname, literal, literal === undefined && opened);
}

/** Path and query of a checked URL, as a request line takes them. In the form of `URL` the first slash behind the scheme begins them. */
export function requestTarget({ href }: CheckedUrl): string {
  const start = href.indexOf('/', 'https://'.length);
  const fragment = href.indexOf('#', start);
  return fragment === -1 ? href.slice(start) : href.slice(start, fragment);
}

const MAX_URL_LENGTH = 2048;
const DEFAULT_PORT = { 'http:': 80, 'https:': 443 } as const;

/** Parsed once: `URL.canParse` would parse it a second time. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** An address without its brackets, or a name in its one form. `URL` has brought every spelling of an address to its plain one. */
function plainHost(hostname: string): string | undefined {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : withoutEmptyLabels(hostname);
}

/** What holds a colon, or whose last label is a number, decimal or hexadecimal, is no name; and it was no address. */
function isNoName(text: string): boolean {
  if (text.includes(':')) return true;
  const start = text.lastIndexOf('.') + 1;
  const code = text.charCodeAt(start);
  return code >= 0x30 && code <= 0x39 && /^(?:[0-9]+|0x[0-9a-f]*)$/.test(text.slice(start));
}

function accept(
  { href }: URL,
  protocol: CheckedUrl['protocol'],
  port: number,
  hostname: string,
  literal: Address | undefined,
  localhost: boolean,
): UrlCheck {
  return { ok: true, url: { href, protocol, port, hostname, literal, localhost } };
}

function refuse(reason: UrlRejection): UrlCheck {
  return { ok: false, reason };
}
