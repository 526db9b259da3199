import { PAGE_FILES } from '#page';
import { PAGE_HEADERS } from './page-headers.ts';
import { checkedPath, staticPage } from './static-page.ts';

/** The options of {@link createConsole}. */
export interface ConsoleOptions {
  /**
   * The path of the page at its origin: one or more segments of letters, digits and `-`, without a slash at the end.
   * The API of the host must be at the same origin. Default: `/console`.
   */
  readonly path?: string;
}

/** The console of a host. It has no state but its decoded files, and reads nothing but the request. */
export interface Console {
  /** The path of the page, without a slash at the end. */
  readonly path: string;
  /** Answers a request for the page or one of its files. Resolves with undefined for every other path. */
  readonly fetch: (request: Request) => Promise<Response | undefined>;
}

/**
 * Creates the console: static files that are the same for every caller, and need no credential. The page in the browser
 * asks its user for an API key or an access token, and reads the API of the host with it.
 *
 * @throws {TypeError} when `path` is not a path as described
 * @example
 * const console = createConsole();
 * const serve = async (request: Request) => (await console.fetch(request)) ?? host.fetch(request);
 */
export function createConsole(options: ConsoleOptions = {}): Console {
  const { path = '/console', ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`createConsole: ${unknown} is no option. Pass path alone.`);
  checkedPath('createConsole', path);
  return { path, fetch: staticPage(path, PAGE_FILES, () => PAGE_HEADERS) };
}
