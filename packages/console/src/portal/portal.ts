import { PAGE_FILES } from '#portal';
import { embeddedPageHeaders, PAGE_HEADERS } from '../page-headers.ts';
import { checkedPath, staticPage } from '../static-page.ts';

/** The options of {@link createPortal}. */
export interface PortalPageOptions {
  /**
   * The path of the page at its origin: one or more segments of letters, digits and `-`, without a slash at the end.
   * The API of the host must be at the same origin. Default: `/portal`.
   */
  readonly path?: string;
}

/** The page of the portal. It has no state but its decoded files, and reads nothing but the request. */
export interface Portal {
  /** The path of the page, without a slash at the end. */
  readonly path: string;
  /** Answers a request for the page or one of its files. Resolves with undefined for every other path. */
  readonly fetch: (request: Request) => Promise<Response | undefined>;
}

/**
 * Creates the page on which customers see and repair webhooks in a session of the host. Its files are the same for every
 * caller and have no data. The query `origin` names the one origin that may embed the page; without it none may. The host
 * exchanges the code of a session for a page of the same origin alone.
 *
 * @throws {TypeError} when `path` is not a path as described
 * @example
 * const portal = createPortal();
 * const serve = async (request: Request) => (await portal.fetch(request)) ?? host.fetch(request);
 */
export function createPortal(options: PortalPageOptions = {}): Portal {
  const { path = '/portal', ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`createPortal: ${unknown} is no option. Pass path alone.`);
  checkedPath('createPortal', path);
  return { path, fetch: staticPage(path, PAGE_FILES, headersOf) };
}

/** Undefined for a query that names more than one origin, or a text that is none. */
function headersOf({ searchParams }: URL): Readonly<Record<string, string>> | undefined {
  const [origin, ...others] = searchParams.getAll('origin');
  if (origin === undefined) return PAGE_HEADERS;
  return others.length === 0 && ORIGIN.test(origin) ? embeddedPageHeaders(origin) : undefined;
}

/** An origin of https, or of http on the visitor's own machine. It has no character that ends a source of a policy. */
const ORIGIN =
  /^(?:https:\/\/[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::[1-9][0-9]{0,4})?$/;
