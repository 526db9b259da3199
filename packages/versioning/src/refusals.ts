import { VersioningError } from './errors.ts';
import { VERSION_HEADER } from './headers.ts';
import type { Served } from './served.ts';

// Each refusal has one error, which is frozen with its details: requests share it, and none can change it for another one.

/** Returns the refusal of a version that a host does not serve. */
export function unsupportedError(served: Served): VersioningError {
  const known = unsupported.get(served);
  if (known !== undefined) return known;
  const { versions } = served;
  const message = `${VERSION_HEADER} does not name a version that this host serves. It serves ${versions.join(' and ')}.`;
  const details = Object.freeze({ protocolVersions: Object.freeze([...versions]) });
  const error = Object.freeze(new VersioningError('protocol_version_unsupported', message, details));
  unsupported.set(served, error);
  return error;
}

const unsupported = new WeakMap<Served, VersioningError>();

/** Returns the refusal of a path under `/v1` with a version of another major. */
export function mismatchError(): VersioningError {
  mismatch ??= Object.freeze(
    new VersioningError(
      'protocol_version_mismatch',
      `Paths under /v1 belong to major 1. Send ${VERSION_HEADER}: 1, or use the path without /v1.`,
      undefined,
    ),
  );
  return mismatch;
}

let mismatch: VersioningError | undefined;

/** Returns the refusal of a malformed request target. */
export function malformedTargetError(): VersioningError {
  if (malformed !== undefined) return malformed;
  const problem =
    'must be an absolute path, percent-encoded as RFC 3986 requires, without empty or dot segments or a trailing slash';
  const details = Object.freeze({ fields: Object.freeze([Object.freeze({ field: 'target', problem })]) });
  malformed = Object.freeze(new VersioningError('validation_error', `The request target ${problem}.`, details));
  return malformed;
}

let malformed: VersioningError | undefined;
