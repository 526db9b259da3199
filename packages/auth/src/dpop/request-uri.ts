/**
 * Normalises an absolute http(s) URI for comparison: without query and fragment, scheme and host in lower case, no
 * default port, one form of percent-encoding, no dot segments.
 *
 * @returns undefined for a text that RFC 3986 does not allow, also when a lenient parser accepts it
 * @see RFC 9449, section 4.3, item 9; RFC 3986, sections 6.2.2 and 6.2.3
 */
export function comparableUri(text: string): string | undefined {
  const [, scheme = '', host = '', port = '', path = ''] = URI.exec(text) ?? [];
  if (scheme === '' || host === '') return undefined;
  const lower = scheme.toLowerCase();
  const shownPort = port === '' || Number(port) === DEFAULT_PORTS[lower] ? '' : `:${Number(port)}`;
  return `${lower}://${host.toLowerCase()}${shownPort}${comparablePath(path)}`;
}

/** Returns whether two URIs are equal after normalisation. In most requests the texts are equal. */
export function isSameUri(given: string, expected: string): boolean {
  if (given === expected) return PLAIN.test(given) || comparableUri(given) !== undefined;
  const comparable = comparableUri(given);
  return comparable !== undefined && comparable === comparableUri(expected);
}

/** Matches a normalised URI. It may contain dot segments: two equal texts are equal with them too. */
const PLAIN = /^https?:\/\/[a-z0-9.-]+(?::[0-9]{1,5})?(?:\/[A-Za-z0-9._~-]*)+$/;

/**
 * Returns the path of a request target in origin form, or of the absolute URL of a Web `Request`; undefined for
 * anything else.
 */
export function targetPath(target: string): string | undefined {
  if (ORIGIN_FORM.test(target)) return target.replace(/[?#].*$/, '');
  const [, scheme = '', , , path = ''] = URI.exec(target) ?? [];
  return scheme === '' ? undefined : path || '/';
}

const PCHAR = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";
const URI = new RegExp(
  String.raw`^(https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{0,5}))?((?:/${PCHAR}*)*)(?:\?(?:${PCHAR}|[/?])*)?(?:#(?:${PCHAR}|[/?])*)?$`,
  'i',
);
const ORIGIN_FORM = new RegExp(String.raw`^/(?!/)(?:${PCHAR}|/)*(?:\?(?:${PCHAR}|[/?])*)?$`);
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

function comparablePath(path: string): string {
  const plain = path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : `%${hex.toUpperCase()}`;
  });
  const kept: string[] = [];
  const segments = plain.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (last) kept.push('');
  }
  return `/${kept.join('/')}`;
}
