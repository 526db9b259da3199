import type { Host } from '@svc/host-kit';

/** The request headers that a page may send without a permission. */
const SAFE_REQUEST = ['accept', 'accept-language', 'content-language'];
/** The response headers that a page may read without a permission. */
const SAFE_RESPONSE = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
];

/**
 * Makes the `fetch` of a page of another origin: it asks for a permission first, sends nothing without one, and shows the
 * page those headers of the response alone that the host exposes.
 *
 * @throws {TypeError} as a browser, for a request or a response that the host does not permit
 * @see Fetch standard: CORS protocol
 */
export function fetchOfPage(host: Pick<Host, 'fetch'>, origin: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const names = [...request.headers.keys()].filter((name) => !SAFE_REQUEST.includes(name));
    const preflight = await host.fetch(
      new Request(request.url, {
        method: 'OPTIONS',
        headers: {
          ...{ origin, 'access-control-request-method': request.method },
          ...(names.length > 0 && { 'access-control-request-headers': names.join(',') }),
        },
      }),
    );
    const methods = listed(preflight.headers, 'access-control-allow-methods');
    const allowed = listed(preflight.headers, 'access-control-allow-headers');
    const refused = [
      ...(methods.includes(request.method.toLowerCase()) ? [] : [request.method]),
      ...names.filter((name) => !allowed.includes(name)),
    ];
    if (!preflight.ok || refused.length > 0)
      throw new TypeError(`CORS: the host does not permit ${refused.join(', ')}.`);
    const headers = new Headers(request.headers);
    headers.set('origin', origin);
    const response = await host.fetch(new Request(request, { headers }));
    if (response.headers.get('access-control-allow-origin') !== origin)
      throw new TypeError('CORS: the host does not let the page read the response.');
    const exposed = [...SAFE_RESPONSE, ...listed(response.headers, 'access-control-expose-headers')];
    const shown = [...response.headers].filter(([name]) => exposed.includes(name));
    return new Response(response.body, { status: response.status, headers: shown });
  };
}

function listed(headers: Headers, name: string): readonly string[] {
  return (headers.get(name) ?? '').split(',').map((each) => each.trim().toLowerCase());
}
