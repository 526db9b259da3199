/**
 * The part of a request that negotiation looks at. The headers of a Web `Request`, of Node's `IncomingMessage` and of a Lambda
 * event fit as they are.
 */
export interface RequestHead {
  readonly method: string;
  /** Path and query exactly as received. A URL that was parsed before has lost what is judged here: dot segments, backslashes. */
  readonly target: string;
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Node's own view with repeats kept. Read instead of `headers` wherever it exists: `headers` may have lost them. */
  readonly headersDistinct?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
}

/**
 * A header, or null without one. Repeats are joined by a comma, as a Web `Headers` joins them: no grammar here has a comma, so a
 * repeated header is a malformed one.
 *
 * @param name in lower case; the names of a plain record may be in any
 */
export function headerValue({ headers, headersDistinct }: RequestHead, name: string): string | null {
  if (headersDistinct !== undefined) return joined(headersDistinct[name]);
  return hasGet(headers) ? headers.get(name) : joined(valuesIn(headers, name));
}

function hasGet(headers: RequestHead['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

/** Not every platform lower-cases its names, and two spellings of one name are a repeat. */
function valuesIn(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string): string[] {
  const values: string[] = [];
  for (const key of Object.keys(headers)) {
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    const value = headers[key];
    if (typeof value === 'string') values.push(value);
    else if (value !== undefined) values.push(...value);
  }
  return values;
}

function joined(values: readonly string[] | undefined): string | null {
  return values === undefined || values.length === 0 ? null : values.join(', ');
}
