/**
 * The part of a request that negotiation reads. The headers of a Web `Request`, of Node's `IncomingMessage` and of a
 * Lambda event are assignable unchanged.
 */
export interface RequestHead {
  /** The HTTP method in upper case. */
  readonly method: string;
  /**
   * Path and query exactly as received. A parsed URL no longer has the dot segments and backslashes that must be
   * rejected.
   */
  readonly target: string;
  /** The request headers. Names in a plain record may be in any case. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /**
   * Node's headers with repeats. Read instead of `headers` when present, because `headers` may have dropped repeats.
   */
  readonly headersDistinct?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
}

/**
 * Returns the value of a header, or null without one. Joins repeats with a comma, as Web `Headers` does: no grammar
 * here allows a comma, so a repeated header is rejected as malformed.
 *
 * @param name in lower case; the names of a plain record may be in any case
 */
export function headerValue({ headers, headersDistinct }: RequestHead, name: string): string | null {
  if (headersDistinct !== undefined) return joined(headersDistinct[name]);
  return hasGet(headers) ? headers.get(name) : valueIn(headers, name);
}

function hasGet(headers: RequestHead['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

/** Compares names without case, because not every platform lower-cases them; two spellings of one name are a repeat. */
function valueIn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | null {
  let found: string | null = null;
  // Without a list of the names: it would be made for each request.
  for (const key in headers) {
    if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue;
    const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
    const text = typeof value === 'string' ? value : joined(value);
    if (text !== null) found = found === null ? text : `${found}, ${text}`;
  }
  return found;
}

function joined(values: readonly string[] | undefined): string | null {
  return values === undefined || values.length === 0 ? null : values.join(', ');
}
