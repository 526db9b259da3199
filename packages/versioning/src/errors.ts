/** The details of each code of a `VersioningError`. @see Interface: Errors */
export interface VersioningErrorDetails {
  protocol_version_unsupported: { readonly protocolVersions: readonly string[] };
  protocol_version_mismatch: undefined;
  client_version_unsupported: { readonly minClientVersion: string };
  id_tenant_mismatch: undefined;
  validation_error: { readonly fields: readonly { readonly field: string; readonly problem: string }[] };
}

/** The error codes of this package. @see Interface: Errors */
export type VersioningErrorCode = keyof VersioningErrorDetails;

const STATUS = {
  protocol_version_unsupported: 406,
  protocol_version_mismatch: 400,
  client_version_unsupported: 426,
  id_tenant_mismatch: 403,
  validation_error: 400,
} as const satisfies Record<VersioningErrorCode, number>;

/** The HTTP status of each error code. @see Interface: Errors */
export const VERSIONING_ERROR_STATUS: Readonly<Record<VersioningErrorCode, number>> = STATUS;

/**
 * The refusal of a request by the rules of versions or identifiers. `message` and `details` may be sent to the caller;
 * `cause` is only for the host's logs.
 *
 * @example
 * import { VersioningError } from '@svc/versioning';
 * import { errorEnvelope } from '@svc/versioning/projection';
 *
 * function errorResponse(error: unknown): Response {
 *   if (!VersioningError.is(error)) return new Response(null, { status: 500 });
 *   return Response.json(errorEnvelope[2](error), { status: error.status });
 * }
 * @see Interface: Errors
 */
export class VersioningError<Code extends VersioningErrorCode = VersioningErrorCode> extends Error {
  /** The code of the error envelope. */
  readonly code: Code;
  /** The HTTP status of the code. */
  readonly status: number;
  /** The details of the error envelope, whose shape depends on the code; undefined for a code without details. */
  readonly details: VersioningErrorDetails[Code];

  constructor(
    code: Code,
    message: string,
    details: VersioningErrorDetails[Code],
    options: { readonly cause?: unknown } = {},
  ) {
    const restore = leaveOutStack();
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    restore();
    this.code = code;
    this.status = STATUS[code];
    this.details = details;
  }

  /** Returns true for an error of this class, also when another bundled copy of the package created it. */
  static is(value: unknown): value is VersioningError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/versioning.error');
// Once for all errors: defining properties on each takes longer than a negotiation.
Object.defineProperties(VersioningError.prototype, {
  name: { value: 'VersioningError', configurable: true },
  [BRAND]: { value: true },
});

/**
 * Makes the next error cost a quarter: it has no stack, which a refusal does not need, because its code names the rule.
 * A runtime whose `Error` is frozen keeps the stack.
 *
 * @returns a function that restores the stacks of other errors
 */
function leaveOutStack(): () => void {
  if (!HAS_LIMIT) return nothing;
  // By `Reflect`, because the types of the language do not have this property of V8.
  const limit: unknown = Reflect.get(Error, LIMIT);
  Reflect.set(Error, LIMIT, 0);
  return () => void Reflect.set(Error, LIMIT, limit);
}

function nothing(): void {}

/** Whether the runtime is V8, and lets the limit be set. */
const HAS_LIMIT = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable === true;
const LIMIT = 'stackTraceLimit';
