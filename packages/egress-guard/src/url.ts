import { type Address, parseAddress } from './address.ts';
import { classify, isLoopback } from './classify.ts';
import { canonicalName, isDeniedName, LOCALHOST } from './names.ts';
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
 * @see Interface: Webhook URL rules at registration
 */
export function checkUrl(text: string, policy: EgressPolicy): UrlCheck {
  if (text.length > MAX_URL_LENGTH) return refuse('url_too_long');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return refuse('malformed_url');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('scheme_not_https');
  if (url.username !== '' || url.password !== '') return refuse('credentials_in_url');
  const port = url.port === '' ? DEFAULT_PORT[url.protocol] : Number(url.port);
  if (port === 0) return refuse('port_not_allowed');

  const host = hostOf(url.hostname);
  if (host === undefined) return refuse('host_not_allowed');
  const local = host.literal === undefined ? host.name === LOCALHOST : isLoopback(host.literal);
  const opened = local && opensLoopback(policy, port);
  if (url.protocol === 'http:' && !opened) return refuse('scheme_not_https');
  if (!opened) {
    const allowed =
      host.literal === undefined ? !isDeniedName(host.name) : classify(host.literal, policy, port).allowed;
    if (!allowed) return refuse('host_not_allowed');
  }
  const { href, protocol } = url;
  const { name: hostname, literal } = host;
  return { ok: true, url: { href, protocol, port, hostname, literal, localhost: literal === undefined && opened } };
}

const MAX_URL_LENGTH = 2048;
const DEFAULT_PORT = { 'http:': 80, 'https:': 443 } as const;

interface Host {
  readonly name: string;
  readonly literal: Address | undefined;
}

/** `URL` has already brought every spelling of an address to its plain form; what still ends in a number is not a name. */
function hostOf(hostname: string): Host | undefined {
  if (hostname.startsWith('[')) {
    const name = hostname.slice(1, -1);
    const literal = parseAddress(name);
    return literal === undefined ? undefined : { name, literal };
  }
  const name = canonicalName(hostname);
  if (name === undefined) return undefined;
  const literal = parseAddress(name);
  if (literal === undefined && /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(name)) return undefined;
  return { name, literal };
}

function refuse(reason: UrlRejection): UrlCheck {
  return { ok: false, reason };
}
