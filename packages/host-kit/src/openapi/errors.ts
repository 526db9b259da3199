import { AUTH_ERROR_STATUS } from '@svc/auth';
import { type Major, VERSIONING_ERROR_STATUS } from '@svc/versioning';
import { z } from 'zod';
import { HOST_ERROR_STATUS } from '../errors.ts';
import { takesCredential } from '../http/access.ts';
import { type ErrorCode, inMajor, type PerMajor } from '../http/description.ts';
import { takesKey } from '../http/idempotency.ts';
import { STREAM_MODES } from '../streams/mode.ts';
import type { DescribedOperation, DescribedRoute } from './described-operation.ts';

/** The HTTP status of each error code. */
export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
  ...AUTH_ERROR_STATUS,
  ...VERSIONING_ERROR_STATUS,
  ...HOST_ERROR_STATUS,
};

/**
 * Returns every error code that an operation can answer with: its own codes, and those of the steps before its handler.
 */
export function errorsOf(
  { access, schema, content, describes, takesKey: isKeyed = false, isVerified = false, credential }: DescribedRoute,
  { method, isProtocol }: DescribedOperation['operation'],
  major: Major,
  { minClientVersion }: { readonly minClientVersion: string | undefined },
): readonly ErrorCode[] {
  return [
    ...new Set([
      ...(isProtocol ? EVERY_OPERATION[major] : EVERY_MOUNT),
      ...(isProtocol && minClientVersion !== undefined ? CLIENT_VERSION : []),
      ...(takesCredential(access) ? AUTHENTICATED : []),
      ...(credential === undefined ? [] : WITH_CREDENTIAL),
      ...(isVerified ? VERIFIED : []),
      ...(schema === undefined && content === undefined ? [] : WITH_BODY),
      ...((isProtocol ? takesKey({ method }, access) : isKeyed) ? WITH_KEY[major] : []),
      ...inMajor(describes.errors ?? [], major),
    ]),
  ];
}

const EVERY_MOUNT: readonly ErrorCode[] = ['validation_error', 'payload_too_large', 'internal_error'];

const EVERY_OPERATION: Readonly<Record<Major, readonly ErrorCode[]>> = {
  1: [
    ...(['validation_error', 'protocol_version_mismatch', 'protocol_version_unsupported'] as const),
    ...(['payload_too_large', 'internal_error'] as const),
  ],
  2: ['validation_error', 'protocol_version_unsupported', 'payload_too_large', 'internal_error'],
};
const CLIENT_VERSION: readonly ErrorCode[] = ['client_version_unsupported'];
const WITH_BODY: readonly ErrorCode[] = ['unsupported_media_type'];

const WITH_KEY: Readonly<Record<Major, readonly ErrorCode[]>> = {
  1: ['idempotency_key_mismatch', 'idempotency_in_flight'],
  2: ['idempotency_key_invalid', 'idempotency_key_mismatch', 'idempotency_in_flight'],
};

const WITH_CREDENTIAL: readonly ErrorCode[] = ['unauthenticated'];
/** The limit of each client, and the deadline of the verification. */
const VERIFIED: readonly ErrorCode[] = ['rate_limited', 'service_unavailable'];

/** Codes of the authentication lanes, the rate limiter and the scope check. */
const AUTHENTICATED: readonly ErrorCode[] = [
  ...(['unauthenticated', 'key_expired', 'key_revoked', 'audience_mismatch'] as const),
  ...(['credential_lifetime_exceeded', 'identity_unverified', 'identity_unresolvable'] as const),
  ...(['sender_constraint_missing', 'delegation_expired', 'delegation_chain_too_long'] as const),
  ...(['delegation_chain_cyclic', 'delegation_scope_amplified'] as const),
  ...(['forbidden', 'run_forbidden', 'rate_limited', 'service_unavailable'] as const),
];

/** Returns the schema of an error's envelope in a major. @see Interface: Error envelope */
export function errorSchema(code: ErrorCode, major: Major): z.ZodType {
  const known = MADE[major].get(code) ?? madeSchema(code, major);
  MADE[major].set(code, known);
  return known;
}

/** Every operation lists a dozen of them, and their JSON Schema is made once for each schema. */
const MADE: Readonly<Record<Major, Map<ErrorCode, z.ZodType>>> = { 1: new Map(), 2: new Map() };

function madeSchema(code: ErrorCode, major: Major): z.ZodType {
  const details = inMajor(DETAILS[code], major);
  return z
    .strictObject({
      error: z.literal(code),
      message: z.string().min(1).describe('The fault and its remedy, for people. Programs use `error`.'),
      ...BESIDE[major](code),
      ...(details !== undefined && { details }),
    })
    .meta({ id: `${pascal(code.replace(/_error$/, ''))}Error` });
}

/** Further top-level members of the envelope. Major 1 has the missing scope there; major 2 has it in `details`. */
const BESIDE: Readonly<Record<Major, (code: ErrorCode) => z.core.$ZodShape>> = {
  1: (code) => (code === 'forbidden' ? { scopeRequired: z.string().optional() } : {}),
  2: () => ({}),
};

const fields = z.array(z.strictObject({ field: z.string(), problem: z.string() }));
const count = z.int().min(0);
const runStatus = z.string().describe('The status of the run.');
const rateLimit = { window: count, limit: count, current: count };

/** The schema of `details` for each error code. Undefined: the error has none. */
const DETAILS: Readonly<Record<ErrorCode, PerMajor<z.ZodType | undefined>>> = {
  unauthenticated: undefined,
  key_expired: undefined,
  key_revoked: undefined,
  audience_mismatch: undefined,
  credential_lifetime_exceeded: undefined,
  identity_unverified: undefined,
  identity_unresolvable: undefined,
  sender_constraint_missing: undefined,
  delegation_expired: undefined,
  delegation_chain_too_long: undefined,
  delegation_chain_cyclic: undefined,
  delegation_scope_amplified: undefined,
  forbidden: { 1: undefined, 2: z.strictObject({ scopeRequired: z.string() }).optional() },
  run_forbidden: undefined,
  rate_limited: {
    1: z.strictObject({ ...rateLimit, retryAfterSeconds: count }),
    2: z.strictObject(rateLimit),
  },
  protocol_version_unsupported: z.strictObject({ protocolVersions: z.array(z.string()) }),
  protocol_version_mismatch: undefined,
  client_version_unsupported: z.strictObject({ minClientVersion: z.string() }),
  id_tenant_mismatch: undefined,
  validation_error: z.strictObject({ fields, field: z.string().optional(), maxRunIds: count.optional() }),
  unsupported_stream_mode: z.strictObject({ supported: z.array(z.enum(STREAM_MODES)) }),
  webhook_endpoint_unverified: undefined,
  webhook_url_rejected: z.strictObject({ reason: z.string() }),
  not_found: undefined,
  payload_too_large: z.strictObject({ maxRequestBodyBytes: count }),
  unsupported_media_type: undefined,
  run_terminal: z.strictObject({ runStatus }),
  run_state_conflict: z.strictObject({ runStatus, pausedAt: z.iso.datetime().optional() }),
  workspace_conflict: z.strictObject({ currentVersion: count }),
  workspace_too_large: z.union([
    z.strictObject({ maxBytes: count, providedBytes: count }),
    z.strictObject({ maxFiles: count }),
  ]),
  run_already_active: {
    1: z.strictObject({ activeRunId: z.string(), activeHost: z.literal('cloud'), retryAfter: count }),
    2: z.strictObject({ activeRunId: z.string(), activeHost: z.literal('cloud') }),
  },
  force_engine_version_forbidden: undefined,
  mock_provider_forbidden: undefined,
  credential_forbidden: undefined,
  fork_point_invalid: undefined,
  interrupt_not_found: undefined,
  interrupt_already_resolved: undefined,
  interrupt_expired: undefined,
  interrupt_cancelled: undefined,
  interrupt_token_invalid: undefined,
  idempotency_key_invalid: undefined,
  idempotency_key_mismatch: undefined,
  idempotency_in_flight: { 1: z.strictObject({ retryAfter: count }), 2: undefined },
  subscription_state_conflict: undefined,
  capability_not_provided: z.strictObject({ operation: z.string() }),
  service_unavailable: undefined,
  internal_error: z.strictObject({ correlationId: z.string() }),
};

function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
