import { type ResolvedId, resolveId } from '@svc/versioning/ids';
import { z } from 'zod';
import { HostError, invalid } from '../errors.ts';
import type { AuthorizedCall, MountRoute } from '../http/route.ts';

/** The reply of a route to the owner of a subscription. */
export function ok(body: NonNullable<Awaited<ReturnType<MountRoute['serve']>>['body']>, status = 200) {
  return { status, headers: { 'cache-control': 'private, no-store' }, body };
}

/** Accepts the id of either major: an operator copies it from a log, a response or a delivery. */
export function idIn(call: AuthorizedCall, name = 'webhookId'): string {
  return bareId(call.params[name] ?? '', call);
}

/** Returns the bare form of an id of either major. */
export function bareId(text: string, call: AuthorizedCall): string {
  const resolved = resolvedIn(text, call);
  if (resolved.ok) return resolved.id;
  // Not a 400: ids of an older deployment may be shorter than major 2 allows.
  if (resolved.error.code === 'validation_error') {
    throw new HostError('not_found', 'There is no such subscription or delivery.', { details: undefined });
  }
  throw resolved.error;
}

function resolvedIn(text: string, { principal }: AuthorizedCall): ResolvedId {
  return resolveId(text, { tenant: principal.tenancy.tenant, major: 2, overlap: true });
}

/** Reads the id at which a page begins, in the form of either major. Undefined for the first page. */
export function pageIdIn(call: AuthorizedCall, name: 'after' | 'before'): string | undefined {
  const text = call.query.get(name) ?? '';
  if (text === '') return undefined;
  const resolved = resolvedIn(text, call);
  if (resolved.ok) return resolved.id;
  const member = name === 'after' ? 'nextAfter' : 'nextBefore';
  throw invalid({ field: `query.${name}`, problem: `must be the ${member} of a page` });
}

/** Reads the limit of a page, 50 by default. A value out of range is clamped. */
export function pageLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '50';
  if (!/^[0-9]{1,9}$/.test(text)) throw invalid({ field: 'query.limit', problem: 'must be a whole number' });
  return Math.min(Math.max(Number(text), 1), 200);
}

/** The schema of a time in the query. Without an offset, hosts in different zones would read different times. */
export const QUERY_TIME: z.ZodISODateTime = z.iso.datetime({ offset: true });

/** Reads a time in the query, in ms since the epoch; undefined when it is absent. */
export function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (QUERY_TIME.safeParse(text).success) return Date.parse(text);
  throw invalid({ field: `query.${name}`, problem: 'must be a time with its offset, such as 2026-01-31T12:00:00Z' });
}

/** Reads the length of a step in the query, in ms; undefined when it is absent. */
export function stepIn(query: URLSearchParams): number | undefined {
  const text = query.get('step');
  if (text === null) return undefined;
  const seconds = /^[0-9]{2,5}$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= LONGEST_STEP && seconds % 60 === 0) return seconds * 1000;
  throw invalid({ field: 'query.step', problem: `must be a multiple of 60 seconds, at most ${LONGEST_STEP}` });
}

/** A day, in seconds. */
const LONGEST_STEP = 86_400;

/** Parts of the descriptions of the routes. */
export const PRIVATE = { headers: ['Cache-Control'] } as const;
export const ADDRESS_ERRORS = ['not_found', 'id_tenant_mismatch'] as const;
export const STATE_ERRORS = [...ADDRESS_ERRORS, 'subscription_state_conflict'] as const;
export const LIMIT: z.ZodType = z.int().min(1).max(200).default(50).describe('The most entries of a page.');
export const STEP: z.ZodInt = z.int().min(60).max(LONGEST_STEP);
export const ADDRESSED: Readonly<Record<'webhookId', z.ZodType>> = {
  webhookId: z.string().min(1).max(512).describe('The id of the subscription, in the form of either major.'),
};
