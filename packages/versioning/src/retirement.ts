/** The announcement that a major is retired. */
export interface Retirement {
  /** The time of the deprecation. */
  readonly deprecatedAt: Date;
  /** The time from which the major is no longer served; not before `deprecatedAt`. Default: not announced. */
  readonly sunsetAt?: Date;
  /** The absolute URL of a page about the retirement. Default: none. */
  readonly link?: string;
}

/**
 * Announces the retirement of a major on one of its responses: sets `Deprecation` and `Sunset`, and adds a `Link`.
 *
 * @throws {TypeError} for an invalid date, a sunset before the deprecation, or a link that is not an absolute URL
 * @example
 * import { stampRetirement } from '@svc/versioning';
 *
 * const headers = new Headers();
 * stampRetirement(headers, { deprecatedAt: new Date('2026-01-01'), link: 'https://svc.example/v2' });
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export function stampRetirement(headers: Headers, { deprecatedAt, sunsetAt, link }: Retirement): void {
  for (const [field, date] of Object.entries({ deprecatedAt, sunsetAt })) {
    if (date !== undefined && Number.isNaN(date.getTime()))
      throw new TypeError(`retirement.${field}: must be a valid Date. Pass new Date('2026-01-01').`);
  }
  if (sunsetAt !== undefined && sunsetAt < deprecatedAt)
    throw new TypeError('retirement.sunsetAt: must not be before deprecatedAt. Pass a later date, or leave it out.');
  if (link !== undefined && !URL.canParse(link))
    throw new TypeError('retirement.link: must be an absolute URL. Pass one such as https://svc.example/v2.');
  headers.set('Deprecation', `@${Math.floor(deprecatedAt.getTime() / 1000)}`);
  if (sunsetAt !== undefined) headers.set('Sunset', sunsetAt.toUTCString());
  if (link !== undefined) headers.append('Link', `<${new URL(link).href}>; rel="deprecation"; type="text/html"`);
}
