interface DetailsByCode {
  protocol_version_unsupported: { readonly protocolVersions: readonly string[] };
  protocol_version_mismatch: undefined;
  client_version_unsupported: { readonly minClientVersion: string };
  id_tenant_mismatch: undefined;
  validation_error: { readonly fields: readonly { readonly field: string; readonly problem: string }[] };
}

export type VersioningErrorCode = keyof DetailsByCode;

const STATUS = {
  protocol_version_unsupported: 406,
  protocol_version_mismatch: 400,
  client_version_unsupported: 426,
  id_tenant_mismatch: 403,
  validation_error: 400,
} as const satisfies Record<VersioningErrorCode, number>;

/** Every code of this package with its HTTP status. @see Interface: Errors */
export const VERSIONING_ERROR_STATUS: Readonly<Record<VersioningErrorCode, number>> = STATUS;

/**
 * A request that the version or identifier rules refuse. `message` and `details` may go to the caller; `cause` is for the
 * host's logs.
 *
 * @example
 * if (VersioningError.is(error)) return Response.json(errorEnvelope[major](error), { status: error.status });
 * @see Interface: Errors
 */
export class VersioningError<Code extends VersioningErrorCode = VersioningErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly details: DetailsByCode[Code];

  constructor(code: Code, message: string, details: DetailsByCode[Code], options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'VersioningError';
    this.code = code;
    this.status = STATUS[code];
    this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises the class across bundled copies, where `instanceof` does not. */
  static is(value: unknown): value is VersioningError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/versioning.error');
