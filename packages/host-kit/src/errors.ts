/** The details of each code of a `HostError`. @see Interface: Errors */
export interface HostErrorDetails {
  validation_error: { readonly fields: readonly FieldProblem[]; readonly field?: string; readonly maxRunIds?: number };
  webhook_url_rejected: { readonly reason: string };
  unsupported_stream_mode: { readonly supported: readonly string[] };
  webhook_endpoint_unverified: undefined;
  forbidden: undefined;
  run_forbidden: undefined;
  not_found: undefined;
  payload_too_large: { readonly maxRequestBodyBytes: number };
  unsupported_media_type: undefined;
  run_terminal: RunStatusDetails;
  run_state_conflict: RunStatusDetails;
  workspace_conflict: { readonly currentVersion: number };
  /** In bytes, or in files. */
  workspace_too_large: { readonly maxBytes: number; readonly providedBytes: number } | { readonly maxFiles: number };
  /** Whole seconds. */
  run_already_active: { readonly activeRunId: string; readonly activeHost: 'cloud'; readonly retryAfter: number };
  force_engine_version_forbidden: undefined;
  mock_provider_forbidden: undefined;
  credential_forbidden: undefined;
  fork_point_invalid: undefined;
  interrupt_not_found: undefined;
  interrupt_already_resolved: undefined;
  interrupt_expired: undefined;
  interrupt_cancelled: undefined;
  interrupt_token_invalid: undefined;
  idempotency_key_invalid: undefined;
  idempotency_key_mismatch: undefined;
  /** Whole seconds. */
  idempotency_in_flight: { readonly retryAfter: number };
  subscription_state_conflict: undefined;
  capability_not_provided: { readonly operation: string };
  service_unavailable: undefined;
  internal_error: { readonly correlationId: string };
}

/** The status of a run that does not allow the request. */
export interface RunStatusDetails {
  readonly runStatus: string;
  readonly pausedAt?: string;
}

/** One problem of a request: its field (`events[0]`, `query.tenantId`, `body`) and its fault. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** A code of an error of this package. @see Interface: Errors */
export type HostErrorCode = keyof HostErrorDetails;

const STATUS = {
  validation_error: 400,
  webhook_url_rejected: 400,
  unsupported_stream_mode: 400,
  webhook_endpoint_unverified: 400,
  forbidden: 403,
  run_forbidden: 403,
  not_found: 404,
  payload_too_large: 413,
  unsupported_media_type: 415,
  run_terminal: 409,
  run_state_conflict: 409,
  workspace_conflict: 409,
  workspace_too_large: 413,
  run_already_active: 409,
  force_engine_version_forbidden: 403,
  mock_provider_forbidden: 403,
  credential_forbidden: 403,
  fork_point_invalid: 422,
  interrupt_not_found: 404,
  interrupt_already_resolved: 409,
  interrupt_expired: 410,
  interrupt_cancelled: 422,
  interrupt_token_invalid: 401,
  idempotency_key_invalid: 400,
  idempotency_key_mismatch: 409,
  idempotency_in_flight: 409,
  subscription_state_conflict: 409,
  capability_not_provided: 501,
  service_unavailable: 503,
  internal_error: 500,
} as const satisfies Record<HostErrorCode, number>;

/** Every code of this package with its HTTP status. @see Interface: Errors */
export const HOST_ERROR_STATUS: Readonly<Record<HostErrorCode, number>> = STATUS;

/**
 * A refusal by the kit. Refusals by the other packages keep their own classes. The host writes all of them as the error
 * envelope of the major in force.
 *
 * @example
 * import { HostError } from '@svc/host-kit';
 *
 * export function isGone(error: unknown): boolean {
 *   return HostError.is(error) && error.code === 'not_found';
 * }
 * @see Interface: Errors
 */
export class HostError<Code extends HostErrorCode = HostErrorCode> extends Error {
  /** The error code, for programs. The meaning of a code never changes. */
  readonly code: Code;
  /** The HTTP status. */
  readonly status: number;
  /** Facts for the caller, in the form of the code. */
  readonly details: HostErrorDetails[Code];
  /** Response headers by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: Code, message: string, options: HostErrorOptions<Code>) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HostError';
    this.code = code;
    this.status = options.status ?? STATUS[code];
    this.details = options.details;
    this.headers = options.headers ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises an error of this class from any bundled copy of the package, where `instanceof` fails. */
  static is(value: unknown): value is HostError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** The options of a `HostError`. */
export interface HostErrorOptions<Code extends HostErrorCode> {
  /** The details of the code. */
  readonly details: HostErrorDetails[Code];
  /** The HTTP status. Default: that of the code. */
  readonly status?: number;
  /** Further headers of the answer. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The cause, for the log of the host alone. */
  readonly cause?: unknown;
}

/** Makes a `validation_error` that names each field and its problem, each in a sentence. */
export function invalid(...problems: readonly [FieldProblem, ...FieldProblem[]]): HostError<'validation_error'> {
  const message = problems.map(({ field, problem }) => ended(`${field}: ${problem}`)).join(' ');
  return new HostError('validation_error', message, { details: { fields: problems } });
}

function ended(sentence: string): string {
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** The refusal of a request whose record cannot be stored or read. */
export function storeUnavailable(): HostError<'service_unavailable'> {
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  return new HostError('service_unavailable', 'The host cannot store anything at the moment. Try again.', {
    details: undefined,
    headers,
  });
}

/** An estimate: the host cannot know when its storage works again. */
const RETRY_AFTER_SECONDS = 5;

const BRAND = Symbol.for('@svc/host-kit.error');
