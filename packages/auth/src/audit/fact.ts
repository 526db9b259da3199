import { isOpaqueId } from '../opaque-id.ts';
import { looksLikeCredential } from '../workload/credential-material.ts';

/** The record of an act or a denial: ids and closed words, no content. */
export interface AuditFact {
  /** Lower-case words joined by dots, e.g. `run.create`. */
  readonly action: string;
  /** Opaque id of the principal; null when no caller was authenticated. */
  readonly actor: string | null;
  /** The object of the act: an opaque id, or `<tenant>/<opaque id>`; null without one. */
  readonly target: string | null;
  /** Time in UTC, ISO 8601. */
  readonly occurredAt: string;
  /** Further facts, at most 32. */
  readonly details: AuditDetails;
}

/** Details by name: ids, closed words and numbers. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Checks a fact before it is written permanently, so that nothing needs redaction later.
 *
 * @throws {TypeError} for a malformed field; the message names the field, never its value
 * @example
 * const occurredAt = new Date().toISOString();
 * checkedFact({ action: 'run.create', actor: 'p_7f3a', target: 'run_1', occurredAt, details: { status: 201 } });
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

/** Matches ids, scopes, path templates and reasons. Without `@` it excludes e-mail addresses. */
const WORDS = /^[A-Za-z0-9 ._~:=/{}*,-]*$/;
