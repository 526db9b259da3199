/**
 * The part of a request that authentication looks at. A Web `Request` fits as it is, and so do Node's `IncomingMessage`, an
 * Express request and Fastify's `request.raw`. The URL is no part of it: a credential in a URL is never read.
 *
 * @see RFC 6750, section 5.3 (Don't pass bearer tokens in page URLs)
 */
export interface RequestHead {
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Node's own view with repeats kept. Read instead of `headers` wherever it exists: `headers` has already lost them. */
  readonly headersDistinct?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
}

/**
 * Every value of a header, repeats included.
 *
 * @param name in lower case; the names of a plain record may be in any
 */
export function headerValues({ headers, headersDistinct }: RequestHead, name: string): readonly string[] {
  if (headersDistinct !== undefined) return headersDistinct[name] ?? [];
  if (hasGet(headers)) {
    const value = headers.get(name);
    return value === null ? [] : [value];
  }
  // Not every platform lower-cases its names, and two spellings of one name are a repeat.
  return Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
}

function hasGet(headers: RequestHead['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}
