import type { PresentedIdentity, WorkloadBinding } from '@svc/auth/workload';
import type { ConfiguredWorkload, ConfiguredWorkloads } from '@svc/host-kit';
import type { Config } from './config.ts';
import { issuersOfBinding } from './config-workload-identity.ts';

/** The bindings of a configuration, and the identities that its tenants may bind. Undefined: no workload is accepted. */
export function configuredWorkloads({ workloadIdentity: workloads }: Config): ConfiguredWorkloads | undefined {
  if (workloads === undefined) return undefined;
  const bindings = workloads.bindings.flatMap(({ workspaces, ...binding }): ConfiguredWorkload[] =>
    // At most one: the configuration is checked. None: no issuer can name the subject.
    issuersOfBinding(workloads, binding).map((issuer) => ({
      ...binding,
      issuer,
      workspaces: workspaces.includes('*') ? 'all' : workspaces,
    })),
  );
  return { grants: workloads.grants, bindings };
}

/** Returns a resolver of the bindings of the configuration alone, for a command that opens no database. */
export function configuredResolver(config: Config): (identity: PresentedIdentity) => WorkloadBinding | undefined {
  const bindings = configuredWorkloads(config)?.bindings ?? [];
  return ({ scheme, issuer, subject }) =>
    bindings.find(
      (binding) =>
        binding.subject === subject &&
        binding.issuer === issuer &&
        (binding.scheme === undefined || binding.scheme === scheme),
    );
}
