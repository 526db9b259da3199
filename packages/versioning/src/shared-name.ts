import { VERSION_HEADER } from './headers.ts';
import { namedPath, pathOfTarget } from './path.ts';
import { headerValue, type RequestHead } from './request-head.ts';
import { mergeVary } from './respond.ts';
import type { Served } from './served.ts';

/**
 * Which of the two a request gets on a name that a page shares with a protocol operation. Only an explicit preference for `text/html`
 * gets the page; a request that names a version gets the operation, whatever it accepts.
 *
 * @example
 * if (representationOf({ method, target, headers }) === 'page') return page();
 * @see Interface: Versioning, Response header, 3
 */
export function representationOf(request: RequestHead): 'protocol' | 'page' {
  if (headerValue(request, VERSION_HEADER.toLowerCase()) !== null) return 'protocol';
  const accept = headerValue(request, 'accept');
  if (accept === null) return 'protocol';
  const ranges = accept.split(',').map(rangeIn);
  const html = Math.max(0, ...ranges.filter(({ type }) => type === 'text/html').map(({ quality }) => quality));
  return html > jsonQuality(ranges) ? 'page' : 'protocol';
}

/** What every response on a shared name says, pages and protocol responses alike. */
export function markSharedName(headers: Headers): void {
  mergeVary(headers, 'Accept', VERSION_HEADER);
}

/**
 * Makes sure that a page cannot be taken for a protocol response.
 *
 * @throws {TypeError} for a page that is JSON
 * @see Interface: Versioning, Response header, 2
 */
export function markPage(headers: Headers): void {
  if (/^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    throw new TypeError(
      'content-type: a page on a path of the protocol must not be application/json. Serve it as text/html.',
    );
  }
  headers.delete(VERSION_HEADER);
  markSharedName(headers);
}

/** A page that a host serves beside the protocol. */
export interface Page {
  /** An absolute path without query. */
  readonly path: string;
  /** Whether the page and the operation under this name are told apart by `representationOf`. */
  readonly negotiated: boolean;
}

/**
 * The pages that a host must move, each with a sentence: those that hide an operation of major 2 from requests without a header. While only
 * major 1 is served the unversioned names are free; `retiringMajor1` looks ahead to the day on which they are not.
 */
export function pageProblems(pages: readonly Page[], served: Pick<Served, 'majors'>, retiringMajor1 = false): string[] {
  if (!served.majors.has(2) && !retiringMajor1) return [];
  return pages.flatMap(({ path, negotiated }) => {
    const plain = pathOfTarget(path);
    if (plain === undefined) {
      return [`pages: "${path}" is not a path in plain form. Use an absolute path without dot or empty segments.`];
    }
    if (negotiated || namedPath(plain) === undefined) return [];
    return [`pages: "${path}" is the path of an operation. Move the page, or select by Accept and ${VERSION_HEADER}.`];
  });
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

/** What is malformed is no range, and admits nothing. */
function rangeIn(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return { type, quality: 1 };
  return /^q=(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(weight)
    ? { type, quality: Number(weight.slice(2)) }
    : { type, quality: 0 };
}

/** The most specific range that fits decides. @see RFC 9110, section 12.5.1 */
function jsonQuality(ranges: readonly MediaRange[]): number {
  for (const type of ['application/json', 'application/*', '*/*']) {
    const fitting = ranges.filter((range) => range.type === type);
    if (fitting.length > 0) return Math.max(...fitting.map(({ quality }) => quality));
  }
  return 0;
}
