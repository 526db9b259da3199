import { refuseClient } from './client-version.ts';
import type { VersioningError } from './errors.ts';
import { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
import { DISCOVERY_PATH, type Operation } from './manifest.ts';
import { fixedTarget, type NamedPath, namedPath, pathOfTarget } from './path.ts';
import { malformedTargetError, mismatchError, unsupportedError } from './refusals.ts';
import { headerValue, type RequestHead } from './request-head.ts';
import type { Served } from './served.ts';
import { type Major, majorOf, parseSelector } from './version.ts';

/** The result of {@link negotiate}: one of five kinds. */
export type Negotiation = OperationFound | OperationAbsent | MethodNotAllowed | ForeignPath | RequestRefused;

interface OfMajor {
  /** The major whose rules and error envelope apply. */
  readonly major: Major;
  /** The `<major>.<minor>` that the response must carry in `SVC-Version`. */
  readonly contract: string;
}

/** The request names an operation of the major. */
export interface OperationFound extends OfMajor {
  readonly kind: 'operation';
  /** The operation in the manifest. */
  readonly operation: Operation;
  /** The path parameters by name, as received and still percent-encoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** The manifest has the path, but not in this major. */
export interface OperationAbsent extends OfMajor {
  readonly kind: 'absent';
  /** The operation of the other major. */
  readonly operation: Operation;
}

/** The manifest has the path in this major, but not with this method. */
export interface MethodNotAllowed extends OfMajor {
  readonly kind: 'method-not-allowed';
  /** The methods for the `Allow` header. */
  readonly allow: readonly string[];
  /** The operation that the other major has at this path with this method. Absent: it has none. */
  readonly elsewhere?: Operation;
}

/** The path is outside the protocol: a vendor path, a seam or a page. */
export interface ForeignPath {
  readonly kind: 'foreign';
}

/** The request violates the rules of versions or of request targets. */
export interface RequestRefused extends OfMajor {
  readonly kind: 'refused';
  /** The error to send. */
  readonly error: VersioningError;
}

/**
 * Finds the operation and the major that a request names. Never throws.
 *
 * @example
 * import { negotiate, served } from '@svc/versioning';
 *
 * const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
 * const found = negotiate({ method: 'GET', target: '/runs/run_1', headers: { 'SVC-Version': '2' } }, protocol);
 * if (found.kind === 'operation') console.log(found.major, found.operation.operationId); // 2 'readRun'
 * @see Interface: Versioning, Paths; Request header `SVC-Version`
 */
export function negotiate(request: RequestHead, served: Served): Negotiation {
  const header = headerValue(request, VERSION);
  const selected = header === null ? undefined : majorOf(parseSelector(header));
  const fixed = fixedTarget(request.target);
  if (fixed !== undefined) {
    if (!fixed.isUnderV1) return unversioned(fixed, header, selected, request, served);
    return served.majors.has(1) ? versioned(fixed, header, request, served) : FOREIGN;
  }
  const path = pathOfTarget(request.target);
  if (path === undefined) return malformedTarget(selected, served);

  if (path === '/v1' || path.startsWith('/v1/')) {
    if (!served.majors.has(1)) return FOREIGN;
    // Before the path is looked up: the rule holds for every path under `/v1`.
    if (isOfAnotherMajor(header)) return refused(1, served, mismatchError());
    const named = path.endsWith(DISCOVERY_PATH) ? undefined : namedPath(path, '/v1'.length);
    return named === undefined ? unnamed(path, '/v1'.length, 1, served) : within(1, named, request, served);
  }
  const named = namedPath(path);
  if (named === undefined) return unnamed(path, 0, selected, served);
  return unversioned(named, header, selected, request, served);
}

/** The request names an operation without `/v1`. */
function unversioned(
  named: NamedPath,
  header: string | null,
  selected: Major | undefined,
  request: RequestHead,
  served: Served,
): Negotiation {
  if (header === null) return within(served.preferredMajor, named, request, served);
  if (selected === undefined || !served.majors.has(selected)) {
    return refused(served.preferredMajor, served, unsupportedError(served));
  }
  return within(selected, named, request, served);
}

/** The request names an operation under `/v1`. */
function versioned(named: NamedPath, header: string | null, request: RequestHead, served: Served): Negotiation {
  return isOfAnotherMajor(header) ? refused(1, served, mismatchError()) : within(1, named, request, served);
}

/** Under `/v1` the value 1 alone passes, without a minor. */
function isOfAnotherMajor(header: string | null): boolean {
  return header !== null && header !== '1';
}

/** In lower case, as `headerValue` requires. */
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
  const operation = withMethod(operations, method);
  if (operation?.majors.includes(major)) return { kind: 'operation', major, contract, operation, params };

  const ofMajor = operations.filter(({ majors }) => majors.includes(major));
  const elsewhere = operation ?? operations[0];
  if (ofMajor.length === 0 && elsewhere !== undefined) return { kind: 'absent', major, contract, operation: elsewhere };
  return {
    kind: 'method-not-allowed',
    major,
    contract,
    allow: methodsOf(ofMajor),
    ...(operation !== undefined && { elsewhere: operation }),
  };
}

/** A loop without a function, which would be made for each request. */
function withMethod(operations: readonly Operation[], method: string): Operation | undefined {
  for (const operation of operations) if (operation.method === method) return operation;
  return undefined;
}

function methodsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/**
 * Rejects the path of an operation with a trailing slash: a router that ignores the slash would serve it without
 * negotiation.
 */
function unnamed(path: string, start: number, selected: Major | undefined, served: Served): Negotiation {
  const slashed = path.endsWith('/') && namedPath(path.slice(0, -1), start) !== undefined;
  return slashed ? malformedTarget(selected, served) : FOREIGN;
}

function refused(major: Major, served: Served, error: VersioningError): Negotiation {
  return { kind: 'refused', major, contract: served.contractOf(major), error };
}

/** A malformed path cannot select the major of the error envelope, so the header does, when it names a served major. */
function malformedTarget(selected: Major | undefined, served: Served): Negotiation {
  const major = selected !== undefined && served.majors.has(selected) ? selected : served.preferredMajor;
  return refused(major, served, malformedTargetError());
}
