import type { AuthorizationDecided, Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { Exchange } from './exchange.ts';

/** The record of an authenticated request: nothing of its body, its query or its headers. */
export interface RequestRecord {
  readonly principal: Principal;
  readonly operation: string;
  readonly method: string;
  /** The template of the path, as a segment may be a token. */
  readonly path: string | undefined;
  readonly scope: string | undefined;
  readonly major: Major;
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly latencyMs: number;
  readonly decided: AuthorizationDecided | undefined;
  /** The trace id of a well-formed `traceparent`. It finds the request in other records, and decides nothing. */
  readonly traceId: string | undefined;
}

/**
 * The record of an exchange that was answered; undefined when its caller is not known.
 *
 * @param now in ms of the monotonic clock
 */
export function recordOf(exchange: Exchange, status: number, now: number): RequestRecord | undefined {
  const { arrival, endpoint, principal, scope, decided } = exchange;
  if (principal === undefined) return undefined;
  const { request, startedAt, since } = arrival;
  const { operation, path, major } = endpoint;
  return {
    principal,
    operation,
    method: request.method,
    path,
    scope,
    major,
    status,
    startedAt,
    latencyMs: now - since,
    decided,
    traceId: traceIdOf(request),
  };
}

function traceIdOf(request: Request): string | undefined {
  return TRACEPARENT.exec(request.headers.get('traceparent') ?? '')?.[1];
}

/** @see W3C Trace Context, section 3.2 */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
