import type { Principal } from '@svc/auth';
import type { Major, Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { ByMajor, ErrorCode, Parameters } from '../http/description.ts';
import type { AuthorizedCall } from '../http/route.ts';
import { namesWorkspace, requireMembership } from '../runs/membership.ts';

/** The options of routes whose path names a subscription. */
export interface AddressedOptions {
  readonly served: Pick<Served, 'overlap'>;
  /** Returns true when the tenant has a workspace of that name. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** True: major 1 may omit `tenantId`, and the subscription is looked up in all workspaces that the caller reaches. */
  readonly tenantIdOptional: boolean;
}

/** A subscription that a request names, and its caller. */
export interface Addressed {
  readonly webhookId: string;
  /** The caller; its tenancy is limited to `workspace`, if there is one. */
  readonly principal: Principal;
  /** The workspace that major 1 names. */
  readonly workspace: string | undefined;
}

/**
 * Reads the address of the subscription that a request names. Checks membership before any lookup, so that a stranger
 * cannot probe for ids.
 *
 * @throws {HostError} `validation_error`, or `forbidden` when the caller is no member of the workspace
 * @throws {VersioningError} `id_tenant_mismatch`
 */
export function addressedSubscription(options: AddressedOptions, call: AuthorizedCall): Addressed {
  const { major, params, principal } = call;
  const workspace = workspaceIn[major](call, options.tenantIdOptional);
  if (workspace !== undefined) requireMembership(options.hasWorkspace, principal, workspace);
  const { tenant } = principal.tenancy;
  const resolved = resolveId(params.webhookId ?? '', { tenant, major, overlap: options.served.overlap });
  if (!resolved.ok) throw resolved.error;
  const tenancy = workspace === undefined ? principal.tenancy : { ...principal.tenancy, workspaces: [workspace] };
  return { webhookId: resolved.id, principal: { ...principal, tenancy }, workspace };
}

/** Describes the query parameters of an address in the API description. */
export function addressQuery({ tenantIdOptional }: Pick<AddressedOptions, 'tenantIdOptional'>): ByMajor<Parameters> {
  const tenantId = z.string().min(1).max(128);
  const workspace = tenantIdOptional ? tenantId.optional() : tenantId;
  const description = 'The workspace that the subscription is in.';
  return { 1: { tenantId: workspace.meta({ description, examples: ['acme-prod'] }) }, 2: {} };
}

/** The errors of a request that names a subscription. */
export const ADDRESS_ERRORS: readonly ErrorCode[] = ['not_found', 'id_tenant_mismatch'];

/** Major 1 names the workspace in a query parameter. Major 2 has none: its ids are bound to the tenant. */
const workspaceIn: Readonly<Record<Major, (call: AuthorizedCall, isOptional: boolean) => string | undefined>> = {
  1: ({ query, principal }, isOptional) => {
    const [workspace, ...others] = query.getAll('tenantId');
    if (workspace === undefined && isOptional) return undefined;
    if (workspace === undefined) {
      throw invalid({ field: 'query.tenantId', problem: `is required. ${namesWorkspace(principal.tenancy)}` });
    }
    if (workspace === '' || others.length > 0) {
      throw invalid({ field: 'query.tenantId', problem: 'must name, once, the workspace that the subscription is in' });
    }
    return workspace;
  },
  2: () => undefined,
};
