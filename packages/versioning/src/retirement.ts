/** When a major was declared deprecated, and when it will be gone. */
export interface Retirement {
  readonly deprecatedAt: Date;
  readonly sunsetAt?: Date;
  /** Where people read about it. */
  readonly link?: string;
}

/**
 * Says on a response of major 1 that it will go.
 *
 * @throws {TypeError} for a date that is none, or a sunset before the deprecation
 * @example
 * if (negotiation.major === 1) stampRetirement(response.headers, { deprecatedAt, sunsetAt, link: 'https://svc.example/v2' });
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
