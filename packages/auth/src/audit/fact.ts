import { isOpaqueId } from '../opaque-id.ts';
import { looksLikeCredential } from '../workload/credential-material.ts';

/** Something that was done or denied: ids and closed words, and nothing of what was said. */
export interface AuditFact {
  /** Segments joined by dots, e.g. `run.create`. */
  readonly action: string;
  /** Opaque; null when nobody was authenticated. */
  readonly actor: string | null;
  /** What it was done to: an opaque id, or one bound to a tenant; null when there is none. */
  readonly target: string | null;
  /** ISO 8601, in UTC. */
  readonly occurredAt: string;
  readonly details: AuditDetails;
}

export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Checks a fact before it is written for good: what was never there need not be redacted.
 *
 * @throws {TypeError} naming the field, never its value
 * @example
 * checkedFact({ action: 'run.create', actor: 'p_7f3a', target: 'run_1', occurredAt: new Date().toISOString(), details: { status: 201 } });
 * @see Interface: Audit logging
 */
export function checkedFact(fact: AuditFact): AuditFact {
  const { action, actor, target, occurredAt, details } = fact;
  const need = (met: boolean, field: string, expected: string) => {
    if (!met) throw new TypeError(`audit fact: ${field} must be ${expected}.`);
  };
  need(ACTION.test(action), 'action', 'lower-case words joined by dots, e.g. run.create');
  need(actor === null || isOpaqueId(actor), 'actor', 'an opaque id or null');
  need(target === null || isTarget(target), 'target', 'an opaque id, <tenant>/<opaque id>, or null');
  need(
    UTC.test(occurredAt) && !Number.isNaN(Date.parse(occurredAt)),
    'occurredAt',
    'an ISO 8601 time in UTC, e.g. 2026-01-01T00:00:00Z',
  );
  const names = Object.keys(details);
  need(names.length <= MAX_DETAILS, 'details', `an object of at most ${MAX_DETAILS} members`);
  for (const name of names) {
    need(NAME.test(name), 'details', 'an object with names of 1 to 64 letters, digits and underscores');
    need(
      isContentFree(details[name]),
      `details.${name}`,
      'a finite number, a boolean, null or a short text without personal data or credentials',
    );
  }
  return fact;
}

const ACTION = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;
const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const MAX_DETAILS = 32;

function isTarget(target: string): boolean {
  const parts = target.split('/', 3);
  return parts.length <= 2 && parts.every(isOpaqueId);
}

function isContentFree(value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && value.length <= 256 && WORDS.test(value) && !looksLikeCredential(value);
}

/** Ids, scopes, path templates and reasons; no `@`, so no address of a person. */
const WORDS = /^[A-Za-z0-9 ._~:=/{}*,-]*$/;
