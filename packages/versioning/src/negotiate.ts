import { refuseClient } from './client-version.ts';
import { VersioningError } from './errors.ts';
import { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
import { DISCOVERY_PATH, type Operation } from './manifest.ts';
import { type NamedPath, namedPath, pathOfTarget } from './path.ts';
import { headerValue, type RequestHead } from './request-head.ts';
import type { Served } from './served.ts';
import { type Major, majorOf, parseSelector } from './version.ts';

/** What a request is, before anything else is known of it. `contract` is what its response must name in `SVC-Version`. */
export type Negotiation =
  | {
      readonly kind: 'operation';
      readonly major: Major;
      readonly contract: string;
      readonly operation: Operation;
      /** Path segments as received, still encoded. */
      readonly params: Readonly<Record<string, string>>;
    }
  /** The manifest names the path, but not in this major. */
  | { readonly kind: 'absent'; readonly major: Major; readonly contract: string; readonly operation: Operation }
  /** The manifest names the path in this major, but not with this method. */
  | {
      readonly kind: 'method-not-allowed';
      readonly major: Major;
      readonly contract: string;
      readonly allow: readonly string[];
    }
  /** No protocol path: a vendor path, a seam, a page. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'refused'; readonly major: Major; readonly contract: string; readonly error: VersioningError };

/**
 * Decides which operation of which major a request is for. It never throws, whatever the request holds.
 *
 * @example
 * const negotiation = negotiate({ method, target: request.url, headers: request.headers }, protocol);
 * if (negotiation.kind === 'refused') return refusal(negotiation.error);
 * @see Interface: Versioning, Paths; Request header `SVC-Version`
 */
export function negotiate(request: RequestHead, served: Served): Negotiation {
  const header = headerValue(request, VERSION);
  const selected = header === null ? undefined : majorOf(parseSelector(header));
  const path = pathOfTarget(request.target);
  if (path === undefined) return malformedTarget(selected, served);

  if (path === '/v1' || path.startsWith('/v1/')) {
    if (!served.majors.has(1)) return FOREIGN;
    // On the whole of `/v1`, whatever the rest of the path.
    if (header !== null && selected !== 1) return refused(1, served, mismatch());
    const named = path.endsWith(DISCOVERY_PATH) ? undefined : namedPath(path, '/v1'.length);
    return named === undefined ? unnamed(path, '/v1'.length, 1, served) : within(1, named, request, served);
  }
  const named = namedPath(path);
  if (named === undefined) return unnamed(path, 0, selected, served);
  if (header === null) return within(served.preferredMajor, named, request, served);
  if (selected === undefined || !served.majors.has(selected)) {
    return refused(served.preferredMajor, served, unsupported(served));
  }
  return within(selected, named, request, served);
}

/** Lower case, as `headerValue` takes them. */
const VERSION = VERSION_HEADER.toLowerCase();
const CLIENT_VERSION = CLIENT_VERSION_HEADER.toLowerCase();
const FOREIGN: Negotiation = { kind: 'foreign' };

function within(major: Major, { operations, params }: NamedPath, request: RequestHead, served: Served): Negotiation {
  const contract = served.contractOf(major);
  if (served.minClientVersion !== undefined) {
    const tooOld = refuseClient(headerValue(request, CLIENT_VERSION), served.minClientVersion);
    if (tooOld !== undefined) return { kind: 'refused', major, contract, error: tooOld };
  }
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const operation = operations.find((candidate) => candidate.method === method);
  if (operation?.majors.includes(major)) return { kind: 'operation', major, contract, operation, params };

  const [first, ...others] = operations.filter(({ majors }) => majors.includes(major));
  const elsewhere = operation ?? (first === undefined ? operations[0] : undefined);
  if (elsewhere !== undefined) return { kind: 'absent', major, contract, operation: elsewhere };
  return {
    kind: 'method-not-allowed',
    major,
    contract,
    allow: methodsOf(first === undefined ? [] : [first, ...others]),
  };
}

function methodsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** A slash behind the path of an operation is that operation to a router that ignores it, and to no rule here. */
function unnamed(path: string, start: number, selected: Major | undefined, served: Served): Negotiation {
  const slashed = path.endsWith('/') && namedPath(path.slice(0, -1), start) !== undefined;
  return slashed ? malformedTarget(selected, served) : FOREIGN;
}

function refused(major: Major, served: Served, error: VersioningError): Negotiation {
  return { kind: 'refused', major, contract: served.contractOf(major), error };
}

function unsupported({ versions }: Served): VersioningError {
  const message = `${VERSION_HEADER} does not name a version that this host serves. It serves ${versions.join(' and ')}.`;
  return new VersioningError('protocol_version_unsupported', message, { protocolVersions: versions });
}

function mismatch(): VersioningError {
  const message = `A path under /v1 is of major 1. Send ${VERSION_HEADER}: 1 or leave it out; other majors use the unversioned paths.`;
  return new VersioningError('protocol_version_mismatch', message, undefined);
}

/** The path says nothing that can be trusted, so the header alone selects the envelope, where it names a served major. */
function malformedTarget(selected: Major | undefined, served: Served): Negotiation {
  const major = selected !== undefined && served.majors.has(selected) ? selected : served.preferredMajor;
  const problem =
    'must be an absolute path without empty segments, dot segments or a trailing slash, percent-encoded as RFC 3986 requires';
  const fields = [{ field: 'target', problem }];
  return refused(major, served, new VersioningError('validation_error', `The request target ${problem}.`, { fields }));
}
