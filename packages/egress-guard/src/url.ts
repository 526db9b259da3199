import { type Address, parseAddress } from './address.ts';
import { classify, isLoopback } from './classify.ts';
import { isDeniedName, isOrdinaryName, LOCALHOST, withoutEmptyLabels } from './names.ts';
import { type EgressPolicy, opensLoopback } from './policy.ts';
import type { UrlRejection } from './rejection.ts';

/** An allowed URL. Store and call its `href`, never the given text. */
export interface CheckedUrl {
  /** The URL in the form of WHATWG. */
  readonly href: string;
  /** The scheme; `http:` only for loopback that the policy opens. */
  readonly protocol: 'http:' | 'https:';
  /** The port, explicit or the default of the scheme. */
  readonly port: number;
  /** The host for the TLS server name and the Host header: a canonical name, or an address without brackets. */
  readonly hostname: string;
  /** The host as an address; undefined when it is a name. */
  readonly literal: Address | undefined;
  /** Whether the host is the name `localhost`, which the loopback switch opened. */
  readonly localhost: boolean;
}

/** The judgement of a URL. */
export type UrlCheck =
  /** The URL is allowed. */
  | { readonly ok: true; readonly url: CheckedUrl }
  /** The URL is rejected. `reason` may be shown to its author. */
  | { readonly ok: false; readonly reason: UrlRejection };

/**
 * Judges a URL without using the network. A name is judged again by its addresses when it is called.
 *
 * @example
 * import { checkUrl, egressPolicy } from '@svc/egress-guard';
 *
 * const checked = checkUrl('https://127.0.0.1/', egressPolicy());
 * console.log(checked.ok ? checked.url.href : checked.reason); // host_not_allowed
 * @see Interface: Webhook URL rules at registration
 */
export function checkUrl(text: string, policy: EgressPolicy): UrlCheck {
  if (text.length > MAX_URL_LENGTH) return refuse('url_too_long');
  const url = parseUrl(text);
  return url === undefined ? refuse('malformed_url') : judgeUrl(url, policy);
}

/** The parts of a parsed URL that are judged. */
export type UrlParts = Pick<URL, 'href' | 'protocol' | 'username' | 'password' | 'port' | 'hostname'>;

/** Judges a URL that was parsed before, as {@link checkUrl}. */
export function judgeUrl(url: UrlParts, policy: EgressPolicy): UrlCheck {
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
  if (protocol === 'http:' && !opened) {
    // https would not help where loopback is open, but not at this port.
    return refuse(isLocal && policy.loopbackPorts !== 'none' ? 'port_not_allowed' : 'scheme_not_https');
  }
  if (!opened) {
    if (policy.ports !== 'any' && !policy.ports.has(port)) return refuse('port_not_allowed');
    const isAllowed = literal === undefined ? !isDeniedName(hostname, policy) : classify(literal, policy, port).allowed;
    if (!isAllowed) return refuse('host_not_allowed');
  }
  return accept(url, protocol, port, hostname, literal, literal === undefined && opened);
}

/**
 * Returns path and query of a checked URL for the request line. In WHATWG form they begin at the first slash after the
 * authority.
 */
export function requestTarget({ href }: CheckedUrl): string {
  const start = href.indexOf('/', 'https://'.length);
  const fragment = href.indexOf('#', start);
  return fragment === -1 ? href.slice(start) : href.slice(start, fragment);
}

/** Returns host and port of a checked URL for the header `host`. The port is absent when it is the default. */
export function requestHost({ href }: CheckedUrl): string {
  const start = href.indexOf('//') + 2;
  return href.slice(start, href.indexOf('/', start));
}

const MAX_URL_LENGTH = 2048;
const DEFAULT_PORT = { 'http:': 80, 'https:': 443 } as const;

/** Parses a URL; undefined when it is malformed. `URL.canParse` would parse it a second time. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns an address without brackets, or a canonical name. `URL` has already normalised every spelling of an address.
 */
function plainHost(hostname: string): string | undefined {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : withoutEmptyLabels(hostname);
}

/** Whether a host that is not an address cannot be a name either: it has a colon, or its last label is a number. */
function isNoName(text: string): boolean {
  if (text.includes(':')) return true;
  const start = text.lastIndexOf('.') + 1;
  const code = text.charCodeAt(start);
  return code >= 0x30 && code <= 0x39 && /^(?:[0-9]+|0x[0-9a-f]*)$/.test(text.slice(start));
}

function accept(
  { href }: UrlParts,
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
