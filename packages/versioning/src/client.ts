import { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import { compareVersions, type Major, majorOf, parseVersion, type Version } from './version.ts';

/** The version fields of a discovery document of either major. Malformed values are ignored. */
interface Advertisement {
  /** The single version of major 1, `<major>.<minor>`. */
  readonly protocolVersion?: unknown;
  /** Every version that the host serves, each `<major>.<minor>`. */
  readonly protocolVersions?: unknown;
  /** The version that the host uses for a request without `SVC-Version`. */
  readonly preferredVersion?: unknown;
}

/**
 * Selects the highest major that the client implements and the host lists. Returns undefined when they have none in
 * common.
 *
 * @param document the JSON of the discovery document, as it was received
 * @throws {TypeError} when `document` is no JSON object
 * @example
 * import { selectMajor } from '@svc/versioning/client';
 *
 * const document = await (await fetch('https://svc.example/.well-known/svc')).json();
 * const major = selectMajor(document, [1, 2]); // 2
 * @see Interface: Versioning, Request header `SVC-Version`
 */
export function selectMajor(document: unknown, implemented: readonly Major[]): Major | undefined {
  const listed = new Set(
    advertisedVersions(advertisementIn('selectMajor', document)).map(({ major }) => majorOf(major)),
  );
  const common = implemented.filter((major) => listed.has(major));
  return common.length === 0 ? undefined : common.includes(2) ? 2 : 1;
}

/**
 * Returns the version that a host uses for a client that requests none: `preferredVersion`, else the highest of
 * `protocolVersions`, else `protocolVersion`. Returns undefined when none of them is well-formed.
 *
 * @param document the JSON of the discovery document, as it was received
 * @throws {TypeError} when `document` is no JSON object
 * @example
 * import { defaultVersion } from '@svc/versioning/client';
 *
 * defaultVersion({ protocolVersions: ['1.9', '1.10'] }); // '1.10'
 * @see Interface: Versioning, Advertisement, 3
 */
export function defaultVersion(document: unknown): string | undefined {
  const { preferredVersion, protocolVersions, protocolVersion } = advertisementIn('defaultVersion', document);
  const [highest] = listIn(protocolVersions).sort((a, b) => compareVersions(b, a));
  const version = versionIn(preferredVersion) ?? highest ?? versionIn(protocolVersion);
  return version === undefined ? undefined : `${version.major}.${version.minor}`;
}

/**
 * The response names another major than the one requested, or does not name a version.
 *
 * @example
 * import { DowngradeError, versionedFetch } from '@svc/versioning/client';
 *
 * await versionedFetch({ major: 2 })('https://svc.example/runs').catch((error: unknown) => {
 *   if (error instanceof DowngradeError) console.error(`The host answered with version ${error.received}.`);
 * });
 */
export class DowngradeError extends Error {
  /** The major that was requested. */
  readonly expected: Major;
  /** The `SVC-Version` of the response, cut to 32 characters; undefined when it has none. */
  readonly received: string | undefined;

  constructor(expected: Major, received: string | undefined) {
    const found = received === undefined ? 'does not name a version' : `names version ${received}`;
    super(
      `Major ${expected} was requested, but the response ${found}. It must not be read as one of major ${expected}.`,
    );
    this.name = 'DowngradeError';
    this.expected = expected;
    this.received = received;
  }
}

/**
 * Rejects a protocol response that another major produced.
 *
 * A host that serves only major 1 may be older than the header, so a response without it passes for major 1 and for no
 * other.
 *
 * @throws {DowngradeError} when the response names another major, or names none and major 2 is expected
 * @example
 * import { assertNoDowngrade } from '@svc/versioning/client';
 *
 * const response = await fetch('https://svc.example/runs', { headers: { 'SVC-Version': '2' } });
 * assertNoDowngrade(response, 2);
 * @see Interface: Versioning, Response header
 */
export function assertNoDowngrade(
  response: { readonly headers: { get(name: string): string | null } },
  expected: Major,
): void {
  const received = response.headers.get(VERSION_HEADER);
  if (received === null) {
    if (expected !== 1) throw new DowngradeError(expected, undefined);
    return;
  }
  if (majorOf(parseVersion(received)?.major) !== expected) throw new DowngradeError(expected, received.slice(0, 32));
}

/**
 * A page was served with a status of success where a response of the protocol was expected: a proxy, a sign-in or a captive portal
 * answered in place of the host.
 *
 * @example
 * import { UnexpectedPageError, versionedFetch } from '@svc/versioning/client';
 *
 * await versionedFetch({ major: 2 })('https://svc.example/runs').catch((error: unknown) => {
 *   if (error instanceof UnexpectedPageError) console.error(`A page with status ${error.status} came instead of the host.`);
 * });
 */
export class UnexpectedPageError extends Error {
  /** The status of the page. */
  readonly status: number;
  /** True when the request was redirected to the page. */
  readonly redirected: boolean;

  constructor(status: number, redirected: boolean) {
    const way = redirected ? ' after a redirect' : '';
    super(
      `A page of HTML with status ${status} was received${way} in place of a response of the host. Check the URL, and the proxies before the host.`,
    );
    this.name = 'UnexpectedPageError';
    this.status = status;
    this.redirected = redirected;
  }
}

/** Options of {@link versionedFetch}. */
export interface VersionedFetchOptions {
  /** The major that every request asks for. */
  readonly major: Major;
  /** `<major>.<minor>[.<patch>]` of the client, sent so that a host can reject outdated clients. Default: not sent. */
  readonly clientVersion?: string;
  /** Sends the request. Default: the platform's `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

const VERSIONED_FETCH_OPTIONS: OptionNames<VersionedFetchOptions> = { major: true, clientVersion: true, fetch: true };

/**
 * Creates a `fetch` that requests one major and rejects responses of any other. A page that is served with a status of
 * success is rejected too, such as the sign-in page of a proxy. Any other response that has no `SVC-Version` and is neither JSON nor an
 * event stream passes, for example the error page of a proxy with 502: its status says that it is none of the host.
 *
 * @returns a function that rejects with a {@link DowngradeError} for a response of another major, and with an
 * {@link UnexpectedPageError} for a page
 * @throws {TypeError} when `clientVersion` is malformed
 * @example
 * import { versionedFetch } from '@svc/versioning/client';
 *
 * const svc = versionedFetch({ major: 2, clientVersion: '1.4.0' });
 * const run = await (await svc('https://svc.example/runs/acme%2Frun_1')).json();
 */
export function versionedFetch(
  options: VersionedFetchOptions,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  requireKnown('versionedFetch', options, VERSIONED_FETCH_OPTIONS);
  const { major, clientVersion, fetch = globalThis.fetch } = options;
  if (clientVersion !== undefined && !/^(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){1,2}$/.test(clientVersion)) {
    throw new TypeError('clientVersion: must be <major>.<minor>[.<patch>]. Pass a version such as "1.4.0".');
  }
  return async (input, init) => {
    const request = new Request(input, init);
    request.headers.set(VERSION_HEADER, String(major));
    if (clientVersion !== undefined) request.headers.set(CLIENT_VERSION_HEADER, clientVersion);
    const response = await fetch(request);
    if (isPage(response)) throw await unexpectedPage(response);
    if (isProtocolResponse(response)) assertNoDowngrade(response, major);
    return response;
  };
}

const PROTOCOL_TYPES = /^(?:application\/(?:[\w.+-]+\+)?json|text\/event-stream)\s*(?:;|$)/i;

/** Returns true for a page that passes for a success. A host that serves a page on purpose, such as an artifact, names its version. */
function isPage({ headers, status }: Response): boolean {
  return status < 400 && !headers.has(VERSION_HEADER) && PAGE_TYPES.test(headers.get('content-type') ?? '');
}

const PAGE_TYPES = /^(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

async function unexpectedPage(response: Response): Promise<UnexpectedPageError> {
  // Otherwise the connection would stay in use until the page is collected.
  await response.body?.cancel();
  return new UnexpectedPageError(response.status, response.redirected);
}

/** Returns true for a response that names a version, or that a client could mistake for a protocol response. */
function isProtocolResponse({ headers, status }: Response): boolean {
  if (headers.has(VERSION_HEADER)) return true;
  const type = headers.get('content-type');
  return type === null ? status < 400 : PROTOCOL_TYPES.test(type);
}

/** A received document may be anything. Its members are judged one by one. */
function advertisementIn(owner: string, document: unknown): Advertisement {
  if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document;
  throw new TypeError(`${owner}: document must be a discovery document. Pass the JSON of /.well-known/svc.`);
}

function advertisedVersions({ protocolVersions, protocolVersion }: Advertisement): Version[] {
  const listed = listIn(protocolVersions);
  const single = versionIn(protocolVersion);
  return listed.length > 0 || single === undefined ? listed : [single];
}

function listIn(value: unknown): Version[] {
  return Array.isArray(value) ? value.flatMap((one) => versionIn(one) ?? []) : [];
}

function versionIn(value: unknown): Version | undefined {
  return typeof value === 'string' ? parseVersion(value) : undefined;
}
