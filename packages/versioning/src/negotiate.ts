import { refuseClient } from './client-version.ts';
import { VersioningError } from './errors.ts';
import { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
import { DISCOVERY_PATH, type Operation } from './manifest.ts';
import { namedPath, pathOfTarget } from './path.ts';
import type { RequestHead } from './request-head.ts';
import type { Served } from './served.ts';
import { type Major, parseSelector } from './version.ts';

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
  /** The manifest names the path, but not with this method. */
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
 * Decides which operation of which major a request is for.
 *
 * @see Interface: Versioning, Paths; Request header `SVC-Version`
 */
export function negotiate(request: RequestHead, served: Served): Negotiation {
  const target = pathOfTarget(request.target);
  if (target === undefined) return refused(served.preferredMajor, served, malformedTarget());
  const versioned = target === '/v1' || target.startsWith('/v1/');
  if (versioned && !served.majors.has(1)) return { kind: 'foreign' };

  const path = versioned ? target.slice(3) || '/' : target;
  const named = versioned && path === DISCOVERY_PATH ? undefined : namedPath(path);
  const header = request.headers.get(VERSION_HEADER);
  if (versioned) {
    // On the whole of `/v1`, whatever the rest of the path.
    if (header !== null && parseSelector(header) !== 1) return refused(1, served, mismatch());
    return named === undefined ? { kind: 'foreign' } : within(1);
  }
  if (named === undefined) return { kind: 'foreign' };
  if (header === null) return within(served.preferredMajor);
  const selected = [...served.majors].find((major) => major === parseSelector(header));
  return selected === undefined ? refused(served.preferredMajor, served, unsupported(served)) : within(selected);

  function within(major: Major): Negotiation {
    const contract = served.contractOf(major);
    const tooOld = refuseClient(request.headers.get(CLIENT_VERSION_HEADER), served.minClientVersion);
    if (tooOld !== undefined) return { kind: 'refused', major, contract, error: tooOld };
    const operations = named?.operations ?? [];
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const operation = operations.find((candidate) => candidate.method === method);
    if (operation === undefined) return { kind: 'method-not-allowed', major, contract, allow: methodsOf(operations) };
    if (!operation.majors.includes(major)) return { kind: 'absent', major, contract, operation };
    return { kind: 'operation', major, contract, operation, params: named?.params ?? {} };
  }
}

function methodsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function refused(major: Major, served: Served, error: VersioningError): Negotiation {
  return { kind: 'refused', major, contract: served.contractOf(major), error };
}

function unsupported({ versions }: Served): VersioningError {
  const message = `${VERSION_HEADER} names no version that this host serves. It serves ${versions.join(' and ')}.`;
  return new VersioningError('protocol_version_unsupported', message, { protocolVersions: versions });
}

function mismatch(): VersioningError {
  const message = `A path under /v1 is major 1. Send ${VERSION_HEADER}: 1 or leave it out; other majors live on the unversioned paths.`;
  return new VersioningError('protocol_version_mismatch', message, undefined);
}

function malformedTarget(): VersioningError {
  const problem = 'must be an absolute path without empty or dot segments, percent-encoded where RFC 3986 asks for it';
  return new VersioningError('validation_error', `The request target ${problem}.`, {
    fields: [{ field: 'target', problem }],
  });
}
