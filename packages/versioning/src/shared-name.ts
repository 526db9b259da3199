import { VERSION_HEADER } from './headers.ts';
import { namedPath, pathOfTarget } from './path.ts';
import { headerValue, type RequestHead } from './request-head.ts';
import { mergeVary } from './respond.ts';
import type { Served } from './served.ts';

/**
 * Selects the page or the operation for a request to a path that both share. Only an explicit preference for
 * `text/html` selects the page; a request that names a version gets the operation, regardless of `Accept`.
 *
 * @example
 * import { representationOf } from '@svc/versioning';
 *
 * representationOf({ method: 'GET', target: '/runs', headers: { accept: 'text/html' } }); // 'page'
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

/**
 * Adds `Accept` and `SVC-Version` to `Vary`, as every response on a shared path must, page or protocol response.
 *
 * @example
 * import { markSharedName } from '@svc/versioning';
 *
 * const headers = new Headers();
 * markSharedName(headers); // Vary: Accept, SVC-Version
 */
export function markSharedName(headers: Headers): void {
  mergeVary(headers, 'Accept', VERSION_HEADER);
}

/**
 * Sets the headers of a page on a shared path, so that no client mistakes it for a protocol response: removes
 * `SVC-Version` and extends `Vary`.
 *
 * @throws {TypeError} when the page is `application/json`
 * @example
 * import { markPage } from '@svc/versioning';
 *
 * const headers = new Headers({ 'content-type': 'text/html' });
 * markPage(headers);
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
  /** True when the host selects between the page and the operation with {@link representationOf}. */
  readonly negotiated: boolean;
}

/**
 * Finds the pages that a host must move, because they hide an operation of major 2 from requests without `SVC-Version`.
 * A host that serves only major 1 may use the unversioned paths; `retiringMajor1` checks it as if it served major 2.
 *
 * @returns one sentence for each page
 * @example
 * import { pageProblems, served } from '@svc/versioning';
 *
 * const protocol = served({ versions: ['2.0'], preferred: '2.0' });
 * pageProblems([{ path: '/about', negotiated: false }], protocol); // []
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

/** Parses one media range. A malformed weight counts as `q=0`, so the range admits nothing. */
function rangeIn(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return { type, quality: 1 };
  return /^q=(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(weight)
    ? { type, quality: Number(weight.slice(2)) }
    : { type, quality: 0 };
}

/** Returns the quality of JSON: the one of the most specific range that matches it. @see RFC 9110, section 12.5.1 */
function jsonQuality(ranges: readonly MediaRange[]): number {
  for (const type of ['application/json', 'application/*', '*/*']) {
    const fitting = ranges.filter((range) => range.type === type);
    if (fitting.length > 0) return Math.max(...fitting.map(({ quality }) => quality));
  }
  return 0;
}
