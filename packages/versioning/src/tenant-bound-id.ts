import { VersioningError } from './errors.ts';
import type { Major } from './version.ts';

/**
 * Returns `<tenant>/<id>`, the form in which major 2 names a tenant's resource.
 *
 * @throws {TypeError} when either contains a slash, because the tenant could then not be separated from the id
 * @example
 * import { bindId } from '@svc/versioning/ids';
 *
 * bindId('acme', 'run_01m7xrhy09bvyvjx'); // 'acme/run_01m7xrhy09bvyvjx'
 * @see Interface: Versioning, Overlap behaviour, 2
 */
export function bindId(tenant: string, id: string): string {
  if (tenant.includes('/') || id.includes('/'))
    throw new TypeError('tenant, id: must not contain a slash. Pass the bare id, not <tenant>/<id>.');
  return `${tenant}/${id}`;
}

/**
 * Encodes a bound id as one path segment: every byte outside `[A-Za-z0-9._-]` becomes `~` and two upper-case
 * hexadecimal digits.
 *
 * @example
 * import { projectId } from '@svc/versioning/ids';
 *
 * projectId('acme/run_01m7xrhy09bvyvjx'); // 'acme~2Frun_01m7xrhy09bvyvjx'
 */
export function projectId(boundId: string): string {
  return boundId.replace(/[^A-Za-z0-9._-]+/g, projected);
}

function projected(characters: string): string {
  return Array.from(utf8.encode(characters), (byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** The facts about a request that {@link resolveId} needs. */
export interface IdContext {
  /** The caller's tenant. */
  readonly tenant: string;
  /** The major of the request. */
  readonly major: Major;
  /** True while both majors are served; major 2 then accepts the bare form of an id too. */
  readonly overlap: boolean;
}

/** The result of {@link resolveId}. */
export type ResolvedId =
  | {
      /** The segment names an id of the caller's tenant. */
      readonly ok: true;
      /** The bare id. */
      readonly id: string;
    }
  | {
      /** The segment is rejected. */
      readonly ok: false;
      /** The error to send: `id_tenant_mismatch` or `validation_error`. */
      readonly error: VersioningError;
    };

/**
 * Resolves a path segment to a bare id. Rejects a segment that is bound to another tenant before any lookup.
 *
 * @param segment as received, still percent-encoded; it is decoded once
 * @returns the id, or the error `id_tenant_mismatch` or `validation_error`
 * @example
 * import { resolveId } from '@svc/versioning/ids';
 *
 * const resolved = resolveId('acme~2Frun_01m7xrhy09bvyvjx', { tenant: 'acme', major: 2, overlap: true });
 * if (!resolved.ok) throw resolved.error;
 * resolved.id; // 'run_01m7xrhy09bvyvjx'
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

/** Every id that a host of major 1 may have minted, limited to one path segment that every store and log accepts. */
const V1_ID = /^[^\s\p{C}/\\?#]{1,128}$/u;
const OPAQUE = /^[A-Za-z0-9._~-]{16,128}$/;

/**
 * Returns true for a tenant id: 1 to 128 of `[A-Za-z0-9._~-]`, optionally after `anon:`.
 *
 * @example
 * import { isTenantId } from '@svc/versioning/ids';
 *
 * isTenantId('acme'); // true
 */
export function isTenantId(text: string): boolean {
  return /^(?:anon:)?[A-Za-z0-9._~-]{1,128}$/.test(text);
}

/**
 * Returns true for a workspace id: 1 to 128 of `[A-Za-z0-9._~-]`.
 *
 * @example
 * import { isWorkspaceId } from '@svc/versioning/ids';
 *
 * isWorkspaceId('team/a'); // false
 */
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
  // `charCodeAt` below gives bytes only for ASCII; a projection encodes every other character with a ~.
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
