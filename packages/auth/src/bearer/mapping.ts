import { AuthError } from '../errors.ts';
import { isObject, type JsonObject } from '../jwt/strict-json.ts';
import { isOpaqueId } from '../opaque-id.ts';
import { isScope } from '../scopes.ts';
import type { Tenancy } from '../tenancy.ts';

/** Which claims of an issuer's tokens say what. */
export interface ClaimMapping {
  /** One tenant. Default `svc_tenant`. */
  readonly tenant?: ClaimSource;
  /** A list of workspaces, or `["*"]` for all of the tenant. Default `svc_workspaces`. */
  readonly workspaces?: ClaimSource;
  /** A list, or names with spaces between. Default `scope`. */
  readonly scopes?: ClaimSource;
  /** `live` or `test`. Default: always live. */
  readonly mode?: ClaimSource;
}

/** The name of a claim, the names on the way to one inside of others, or the value for every token of the issuer. */
export type ClaimSource = string | readonly string[] | { readonly value: string | readonly string[] };

/**
 * What a verified token gives its bearer. A claim that is missing or malformed gives nothing, and a wildcard among scopes is not
 * taken from a token: it would grow with the host.
 *
 * @throws {AuthError} `forbidden` when the token gives no tenant, no workspace, or a tenant that its issuer may not speak for
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
  const mode = mapping.mode === undefined ? 'live' : read(claims, mapping.mode);
  // The same whether there is such a tenant or not.
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
  return new AuthError('forbidden', 'The token gives access to no tenant or workspace of this host.', undefined);
}

function read(claims: JsonObject, source: ClaimSource): unknown {
  if (typeof source !== 'string' && 'value' in source) return source.value;
  let found: unknown = claims;
  for (const name of typeof source === 'string' ? [source] : source) {
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

/** Names with single spaces between, or a list of names; anything else is none. @see RFC 6749, section 3.3 */
function listOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  const names = list.filter((name) => typeof name === 'string' && name !== '');
  return names.length === list.length ? names.map(String) : [];
}
