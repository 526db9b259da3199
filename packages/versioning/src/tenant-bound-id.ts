import { VersioningError } from './errors.ts';
import type { Major } from './version.ts';

/** `<tenant>/<id>`: how major 2 names what belongs to a tenant. @see Interface: Versioning, Overlap behaviour, 2 */
export function bindId(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}

/** A bound id as one path segment: every byte outside `[A-Za-z0-9._-]` becomes `~` and two upper-case hexadecimal digits. */
export function projectId(boundId: string): string {
  let segment = '';
  for (const byte of utf8.encode(boundId)) {
    const character = String.fromCharCode(byte);
    segment += /[A-Za-z0-9._-]/.test(character) ? character : `~${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return segment;
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
 * @param segment as received, still percent-encoded
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
  if (bound === undefined) return refuse('has a ~ that is not followed by two hexadecimal digits');
  const slash = bound.indexOf('/');
  if (slash < 0) {
    if (!overlap) return refuse('must be the tenant-bound form, <tenant>/<id>');
    return OPAQUE.test(bound) ? { ok: true, id: bound } : refuse('is not an id');
  }
  const owner = bound.slice(0, slash);
  const id = bound.slice(slash + 1);
  if (!isTenantId(owner) || !OPAQUE.test(id)) return refuse('is not a tenant-bound id, <tenant>/<id>');
  if (owner !== tenant) {
    const message = 'The id belongs to another tenant than the credential.';
    return { ok: false, error: new VersioningError('id_tenant_mismatch', message, undefined) };
  }
  return { ok: true, id };
}

/** Any id that major 1 may have minted, as long as it is one path segment. */
const V1_ID = /^[^\s/\\?#]{1,128}$/;
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
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '~') {
      bytes.push(Number.parseInt(text.slice(index + 1, index + 3), 16));
      index += 2;
    } else bytes.push(...utf8.encode(text[index]));
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
