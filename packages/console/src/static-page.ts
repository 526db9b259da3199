import { type Coding, codingFor } from './coding.ts';
import type { PageFile } from './page-files.ts';
import { ASSET_HEADERS, SAFE_HEADERS } from './page-headers.ts';

/** Answers the requests for a page and its files. Resolves with undefined for every path that is not below its own. */
export type StaticPage = (request: Request) => Promise<Response | undefined>;

/**
 * Serves the files of a page, which are the same for every caller.
 *
 * @param path the path of the page, without a slash at the end
 * @param headersOf the headers of the page itself for a URL; undefined refuses the URL
 */
export function staticPage(
  path: string,
  pageFiles: readonly PageFile[],
  headersOf: (url: URL) => Readonly<Record<string, string>> | undefined,
): StaticPage {
  const files = new Map(pageFiles.map((file) => [`${path}/${file.path}`, { file, bytesIn: decoding(file) }]));
  return async (request) => {
    const url = new URL(request.url);
    const { pathname } = url;
    if (pathname !== path && !pathname.startsWith(`${path}/`)) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, 'Send GET or HEAD.');
    // The files are named relative to the page, so its path must end with a slash.
    if (pathname === path) return redirection(`${path}/${url.search}`);
    const found = files.get(pathname);
    if (found === undefined) return refusal(404, 'There is no such file.');
    const headers = found.file.path === '' ? headersOf(url) : ASSET_HEADERS;
    if (headers === undefined) return refusal(400, 'The query is not one of this page.');
    return await answer(request, found, headers);
  };
}

/** Returns a path that an option gives. @throws {TypeError} when it is no path as the option describes it */
export function checkedPath(creator: string, path: string): string {
  if (PATH.test(path)) return path;
  throw new TypeError(`${creator}: path must be segments of letters, digits and -. Pass one such as /console.`);
}

const PATH = /^(?:\/[A-Za-z0-9-]{1,64}){1,8}$/;

interface Served {
  readonly file: PageFile;
  readonly bytesIn: (coding: Coding) => Promise<Uint8Array<ArrayBuffer>>;
}

async function answer(
  request: Request,
  { file, bytesIn }: Served,
  given: Readonly<Record<string, string>>,
): Promise<Response> {
  const coding = codingFor(request.headers.get('accept-encoding'));
  const headers = {
    ...given,
    'content-type': file.type,
    etag: `"${file.digest}-${coding}"`,
    vary: 'Accept-Encoding',
  };
  if (namesTag(request.headers.get('if-none-match'), headers.etag)) return new Response(null, { status: 304, headers });
  const body = await bytesIn(coding);
  const init = {
    status: 200,
    headers: {
      ...headers,
      'content-length': String(body.length),
      ...(coding !== 'identity' && { 'content-encoding': coding }),
    },
    // Without it, Workers would compress the compressed bytes again. Other runtimes ignore it.
    encodeBody: 'manual',
  } as const;
  return new Response(request.method === 'HEAD' ? null : body, init);
}

/** Compares weakly: a proxy that compresses, or a cache, marks the tags that it passes on as weak. */
function namesTag(condition: string | null, etag: string): boolean {
  return condition?.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, ''))) ?? false;
}

/** Decodes each coding of a file once: a request needs no credential, so it must cost little. */
function decoding(file: PageFile): Served['bytesIn'] {
  // Bytes and no promises: Workers do not let a request wait for what another one began.
  const decoded = new Map<Coding, Uint8Array<ArrayBuffer>>();
  return async (coding) => {
    const bytes = decoded.get(coding) ?? (coding === 'identity' ? await plain(file) : bytesOf(file[coding]));
    decoded.set(coding, bytes);
    return bytes;
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Decompresses a file for the rare client that accepts no compression. */
async function plain(file: Pick<PageFile, Exclude<Coding, 'identity' | 'br'>>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Response(bytesOf(file.gzip)).body?.pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function redirection(location: string): Response {
  return new Response(null, { status: 308, headers: { ...SAFE_HEADERS, location } });
}

function refusal(status: 400 | 404 | 405, sentence: string): Response {
  const headers = { ...SAFE_HEADERS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(`${sentence}\n`, {
    status,
    headers: status === 405 ? { ...headers, allow: 'GET, HEAD' } : headers,
  });
}
