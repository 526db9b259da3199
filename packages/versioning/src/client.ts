import { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
import { compareVersions, type Major, majorOf, parseVersion, type Version } from './version.ts';

/** What a client looks at in a discovery document of either major. */
export interface Advertisement {
  readonly protocolVersion?: unknown;
  readonly protocolVersions?: unknown;
  readonly preferredVersion?: unknown;
}

/**
 * The highest major that a client implements and a host lists; undefined when there is none in common.
 *
 * @example
 * const document = await (await fetch('https://svc.example/.well-known/svc')).json();
 * const major = selectMajor(document, [1, 2]); // 2
 * @see Interface: Versioning, Request header `SVC-Version`
 */
export function selectMajor(document: Advertisement, implemented: readonly Major[]): Major | undefined {
  const listed = new Set(advertisedVersions(document).map(({ major }) => majorOf(major)));
  const common = implemented.filter((major) => listed.has(major));
  return common.length === 0 ? undefined : common.includes(2) ? 2 : 1;
}

/**
 * The version that a host means for a client that asks for none: `preferredVersion`, else the highest of `protocolVersions`, else
 * `protocolVersion`. Undefined for a document that states none in the grammar.
 *
 * @see Interface: Versioning, Advertisement, 3
 */
export function defaultVersion(document: Advertisement): string | undefined {
  const preferred = versionIn(document.preferredVersion);
  const [highest] = listIn(document.protocolVersions).sort((a, b) => compareVersions(b, a));
  const version = preferred ?? highest ?? versionIn(document.protocolVersion);
  return version === undefined ? undefined : `${version.major}.${version.minor}`;
}

/** A response of another major than the one that was asked for, or one that does not say of which it is. */
export class DowngradeError extends Error {
  readonly expected: Major;
  /** What the response said; undefined for nothing. */
  readonly received: string | undefined;

  constructor(expected: Major, received: string | undefined) {
    const found = received === undefined ? 'does not name a version' : `names version ${received}`;
    super(
      `${VERSION_HEADER}: major ${expected} was requested, but the response ${found}. Do not read it as major ${expected}.`,
    );
    this.name = 'DowngradeError';
    this.expected = expected;
    this.received = received;
  }
}

/**
 * Rejects a protocol response that another major has produced.
 *
 * Hosts of major 1 alone may be older than the header, so a response without it passes for major 1 and for no other.
 *
 * @throws {DowngradeError}
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

export interface VersionedFetchOptions {
  readonly major: Major;
  /** `<major>.<minor>[.<patch>]` of the client, for hosts that refuse old ones. */
  readonly clientVersion?: string;
  /** Default: the platform's. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/**
 * A `fetch` that asks for one major and takes no other for an answer. Pages, which name no version and are no JSON, pass as they are: a
 * proxy's error page is nobody's protocol response.
 *
 * @returns a function that rejects with a {@link DowngradeError}
 * @throws {TypeError} for a client version of another form
 * @example
 * const svc = versionedFetch({ major: 2, clientVersion: '1.4.0' });
 * const run = await (await svc('https://svc.example/runs/acme%2Frun_1')).json();
 */
export function versionedFetch({
  major,
  clientVersion,
  fetch = globalThis.fetch,
}: VersionedFetchOptions): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  if (clientVersion !== undefined && !/^(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){1,2}$/.test(clientVersion)) {
    throw new TypeError('clientVersion: must be <major>.<minor>[.<patch>]. Pass a version such as "1.4.0".');
  }
  return async (input, init) => {
    const request = new Request(input, init);
    request.headers.set(VERSION_HEADER, String(major));
    if (clientVersion !== undefined) request.headers.set(CLIENT_VERSION_HEADER, clientVersion);
    const response = await fetch(request);
    if (isProtocolResponse(response)) assertNoDowngrade(response, major);
    return response;
  };
}

const PROTOCOL_TYPES = /^(?:application\/(?:[\w.+-]+\+)?json|text\/event-stream)\s*(?:;|$)/i;

/** What says a version, or could be taken for an answer of the protocol. */
function isProtocolResponse({ headers, status }: Response): boolean {
  if (headers.has(VERSION_HEADER)) return true;
  const type = headers.get('content-type');
  return type === null ? status < 400 : PROTOCOL_TYPES.test(type);
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
