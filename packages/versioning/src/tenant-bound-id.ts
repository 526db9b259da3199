import { VersioningError } from './errors.ts';
import type { Major } from './version.ts';

/**
 * `<tenant>/<id>`: how major 2 names what belongs to a tenant.
 *
 * @throws {TypeError} when either holds a slash, which would move the border between the two
 * @see Interface: Versioning, Overlap behaviour, 2
 */
export function bindId(tenant: string, id: string): string {
  if (tenant.includes('/') || id.includes('/'))
    throw new TypeError('tenant, id: must not contain a slash. Pass the bare id, not <tenant>/<id>.');
  return `${tenant}/${id}`;
}

/** A bound id as one path segment: every byte outside `[A-Za-z0-9._-]` becomes `~` and two upper-case hexadecimal digits. */
export function projectId(boundId: string): string {
  return boundId.replace(/[^A-Za-z0-9._-]+/g, projected);
}

function projected(characters: string): string {
  return Array.from(utf8.encode(characters), (byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

export interface IdContext {
  /** The caller's own. */
  readonly tenant: string;
  readonly major: Major;
  /** While both majors are served, major 2 takes the bare form of an id too. */
  readonly overlap: boolean;
}

export type ResolvedId =
  | { readonly ok: true /** The bare id. */; readonly id: string }
  | { readonly ok: false; readonly error: VersioningError };

/**
 * The bare id that a path segment names. A segment bound to another tenant is refused here, before anything is looked up.
 *
 * @param segment as received, still percent-encoded; it is decoded once
 * @returns the id, or `id_tenant_mismatch` | `validation_error`
 * @example
 * const resolved = resolveId(params.runId, { tenant: principal.tenant, major, overlap: protocol.overlap });
 * if (!resolved.ok) throw resolved.error;
 * @see Interface: Versioning, Overlap behaviour, 2; Errors, `id_tenant_mismatch`
 */
export function resolveId(segment: string, context: IdContext): ResolvedId {
  const decoded = decodePercent(segment);
  if (decoded === undefined) return refuse('is not percent-encoded UTF-8');
  return RESOLVE[context.major](decoded, context);
}

const RESOLVE: Readonly<Record<Major, (text: string, context: IdContext) => ResolvedId>> = {
  1: (text) => (V1_ID.test(text) ? { ok: true, id: text } : refuse('is not an id of major 1')),
  2: resolveBound,
};

function resolveBound(text: string, { tenant, overlap }: IdContext): ResolvedId {
  const bound = text.includes('/') ? text : decodeProjection(text);
  if (bound === undefined) return refuse('has a ~ that is not followed by two hexadecimal digits of a UTF-8 byte');
  const slash = bound.indexOf('/');
  if (slash < 0) {
    if (!overlap) return refuse('must be the tenant-bound form, <tenant>/<id>');
    return OPAQUE.test(bound) ? { ok: true, id: bound } : refuse('is not an id');
  }
  const owner = bound.slice(0, slash);
  const id = bound.slice(slash + 1);
  if (!isTenantId(owner) || !OPAQUE.test(id)) return refuse('is not a tenant-bound id, <tenant>/<id>');
  if (owner !== tenant) {
    const message = 'The id is bound to a tenant other than the one of the credential.';
    return { ok: false, error: new VersioningError('id_tenant_mismatch', message, undefined) };
  }
  return { ok: true, id };
}

/** Any id that major 1 may have minted, as long as it is one path segment that every store and log can hold. */
const V1_ID = /^[^\s\p{C}/\\?#]{1,128}$/u;
const OPAQUE = /^[A-Za-z0-9._~-]{16,128}$/;

export function isTenantId(text: string): boolean {
  return /^(?:anon:)?[A-Za-z0-9._~-]{1,128}$/.test(text);
}

export function isWorkspaceId(text: string): boolean {
  return /^[A-Za-z0-9._~-]{1,128}$/.test(text);
}

function decodePercent(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function decodeProjection(text: string): string | undefined {
  if (!text.includes('~')) return text;
  if (/~(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  // What is not ASCII belongs to no id, and is spelled with a ~ if it is spelled at all.
  if (/[^\x21-\x7e]/.test(text)) return undefined;
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '~') {
      bytes.push(Number.parseInt(text.slice(index + 1, index + 3), 16));
      index += 2;
    } else bytes.push(text.charCodeAt(index));
  }
  try {
    return strictUtf8.decode(new Uint8Array(bytes));
  } catch {
    return undefined;
  }
}

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function refuse(problem: string): ResolvedId {
  const message = `The id in the path ${problem}.`;
  return {
    ok: false,
    error: new VersioningError('validation_error', message, { fields: [{ field: 'path', problem }] }),
  };
}
