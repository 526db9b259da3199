import type { Principal } from '@svc/auth';
import type { Major, Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { ByMajor, ErrorCode, Parameters } from '../http/description.ts';
import type { AuthorizedCall } from '../http/route.ts';
import { requireMembership } from '../webhooks/register.ts';

export interface AddressedOptions {
  readonly served: Pick<Served, 'overlap'>;
  /** Whether a workspace of that name exists in the tenant. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** Whether major 1 may leave the workspace out: then it is looked for in all that the caller reaches. */
  readonly tenantIdOptional: boolean;
}

/** Which subscription a request names, and the caller as far as it named itself there. */
export interface Addressed {
  readonly webhookId: string;
  readonly principal: Principal;
  /** Major 1 says in which workspace. */
  readonly workspace: string | undefined;
}

/**
 * Reads the subscription that a request is about. Membership comes before any lookup, so that a stranger learns nothing.
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

/** What the API description tells of an address, beside the path. */
export function addressQuery({ tenantIdOptional }: Pick<AddressedOptions, 'tenantIdOptional'>): ByMajor<Parameters> {
  const tenantId = z.string().min(1).max(128);
  const workspace = tenantIdOptional ? tenantId.optional() : tenantId;
  const description = 'The workspace that the subscription is in.';
  return { 1: { tenantId: workspace.meta({ description, examples: ['acme-prod'] }) }, 2: {} };
}

export const ADDRESS_ERRORS: readonly ErrorCode[] = ['not_found', 'id_tenant_mismatch'];

/** Major 1 names the workspace in a query parameter; in major 2 the id says enough. */
const workspaceIn: Readonly<Record<Major, (call: AuthorizedCall, isOptional: boolean) => string | undefined>> = {
  1: ({ query }, isOptional) => {
    const [workspace, ...others] = query.getAll('tenantId');
    if (workspace === undefined && isOptional) return undefined;
    if (workspace === undefined || workspace === '' || others.length > 0) {
      throw invalid({ field: 'query.tenantId', problem: 'must name, once, the workspace that the subscription is in' });
    }
    return workspace;
  },
  2: () => undefined,
};
