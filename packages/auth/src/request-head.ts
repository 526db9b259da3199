/** The part of a request that authentication looks at: a Web `Request` fits, and so does Node's `IncomingMessage`. */
export interface RequestHead {
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Node's own view with repeats kept; `headers` has already lost them. */
  readonly headersDistinct?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
}

/** Every value of a header. @param name in lower case */
export function headerValues({ headers, headersDistinct }: RequestHead, name: string): readonly string[] {
  if (headersDistinct !== undefined) return headersDistinct[name] ?? [];
  const value = hasGet(headers) ? headers.get(name) : headers[name];
  if (value === null || value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function hasGet(headers: RequestHead['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}
