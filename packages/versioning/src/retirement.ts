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
  for (const date of [deprecatedAt, sunsetAt]) {
    if (date !== undefined && Number.isNaN(date.getTime())) throw new TypeError('A date of the retirement is none.');
  }
  if (sunsetAt !== undefined && sunsetAt < deprecatedAt)
    throw new TypeError('The sunset must not be before the deprecation.');
  headers.set('Deprecation', `@${Math.floor(deprecatedAt.getTime() / 1000)}`);
  if (sunsetAt !== undefined) headers.set('Sunset', sunsetAt.toUTCString());
  if (link !== undefined) headers.append('Link', `<${new URL(link).href}>; rel="deprecation"; type="text/html"`);
}
