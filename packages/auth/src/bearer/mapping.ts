import { AuthError } from '../errors.ts';
import { isObject, type JsonObject } from '../jwt/strict-json.ts';
import { isOpaqueId } from '../opaque-id.ts';
import { isScope } from '../scopes.ts';
import type { Tenancy } from '../tenancy.ts';

/** The claims of an issuer's tokens that hold its grants. */
export interface ClaimMapping {
  /** The tenant, one opaque id. Default `svc_tenant`. */
  readonly tenant?: ClaimSource;
  /** A list of workspaces, or `["*"]` for all of the tenant. Default `svc_workspaces`. */
  readonly workspaces?: ClaimSource;
  /** A list of scopes, or a text of scopes separated by spaces. Default `scope`. */
  readonly scopes?: ClaimSource;
  /** `live` or `test`. Default `svc_mode`, and live for a token without that claim. */
  readonly mode?: ClaimSource;
}

/** The name of a claim, the path to a nested claim, or a fixed value for every token of the issuer. */
export type ClaimSource =
  | string
  | readonly string[]
  | {
      /** The fixed value. */
      readonly value: string | readonly string[];
    };

/**
 * Reads the grants of a verified token. A missing or malformed claim grants nothing. A wildcard scope in a token is
 * dropped: its reach would grow with the scopes of the host.
 *
 * @throws {AuthError} `forbidden` without a tenant or workspace, or for a tenant for which the issuer may not speak
 */
export function grantsOf(
  claims: JsonObject,
  mapping: ClaimMapping,
  tenants: readonly string[] | undefined,
): { readonly tenancy: Tenancy; readonly scopes: readonly string[] } {
  const {
    tenant: tenantFrom = 'svc_tenant',
    workspaces: workspacesFrom = 'svc_workspaces',
    scopes = 'scope',
  } = mapping;
  const tenant = read(claims, tenantFrom);
  const workspaces = listOf(read(claims, workspacesFrom));
  const mode = mapping.mode === undefined ? (read(claims, 'svc_mode') ?? 'live') : read(claims, mapping.mode);
  // One refusal for all cases: it must not tell whether a tenant exists.
  if (!isOpaqueId(tenant) || (tenants !== undefined && !tenants.includes(tenant))) throw nowhere();
  if (mode !== 'live' && mode !== 'test') throw nowhere();
  const all = workspaces.length === 1 && workspaces[0] === '*';
  if (!all && (workspaces.length === 0 || !workspaces.every((name) => isOpaqueId(name) && name !== '*')))
    throw nowhere();
  return {
    tenancy: { tenant, workspaces: all ? 'all' : workspaces, mode },
    scopes: listOf(read(claims, scopes)).filter(isScope),
  };
}

function nowhere(): AuthError {
  const message = 'The token gives access to no tenant or workspace of this host.';
  return new AuthError('forbidden', message, undefined, { reason: 'grants' });
}

function read(claims: JsonObject, source: ClaimSource): unknown {
  if (typeof source !== 'string' && 'value' in source) return source.value;
  let found: unknown = claims;
  for (const name of typeof source === 'string' ? [source] : source) {
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

/**
 * Reads a list of names, or a text of names separated by single spaces. Anything else is an empty list.
 *
 * @see RFC 6749, section 3.3
 */
function listOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  const names = list.filter((name) => typeof name === 'string' && name !== '');
  return names.length === list.length ? names.map(String) : [];
}
