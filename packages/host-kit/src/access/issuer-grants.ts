import type { PresentedIdentity } from '@svc/auth/workload';
import type { ConfiguredWorkloads, IssuerGrant } from './access-model.ts';

/** An identity, without its scheme. */
export type Named = Pick<PresentedIdentity, 'issuer' | 'subject'>;

/** The identities that tenants may bind. One identity belongs to one tenant, even if the store has bindings of it in others. */
export class IssuerGrants {
  /** The grants of each issuer, by ascending prefix. None is the beginning of another. */
  readonly #byIssuer = new Map<string, readonly Ordered[]>();
  /** The tenants of the bindings of the configuration. */
  readonly #configured = new Map<string, string>();

  /** @throws {TypeError} when two tenants could bind one identity */
  constructor({ grants, bindings }: ConfiguredWorkloads) {
    for (const [index, grant] of grants.entries()) this.#add(grant, `grants[${index}]`);
    for (const [index, binding] of bindings.entries()) this.#bind(binding, `bindings[${index}]`);
  }

  /** Returns the tenant that may bind an identity. */
  granteeOf({ issuer, subject }: Named): string | undefined {
    const grant = lastUpTo(this.#byIssuer.get(issuer) ?? [], subject);
    return grant !== undefined && subject.startsWith(grant.prefix) ? grant.tenant : undefined;
  }

  /** Returns the tenant that an identity can be of: of the configuration, or by a grant. */
  tenantOf(identity: Named): string | undefined {
    return this.#configured.get(nameOf(identity)) ?? this.granteeOf(identity);
  }

  #add({ tenant, issuer, subjectPrefix: prefix = '' }: IssuerGrant, path: string): void {
    if (issuer === '') throw fault(`${path}.issuer`, 'must not be empty. Give the issuer of the identities');
    if (prefix !== '' && !SEPARATED.test(prefix)) {
      const remedy = 'Write the prefix up to a character such as / or :';
      throw fault(`${path}.subjectPrefix`, `must not end within a name: longer names begin with it, too. ${remedy}`);
    }
    const others = this.#byIssuer.get(issuer) ?? [];
    if (others.some((other) => other.prefix.startsWith(prefix) || prefix.startsWith(other.prefix))) {
      throw fault(path, 'must not share a subject with another grant of the issuer. Give each its own subjectPrefix');
    }
    const ordered = [...others, { tenant, prefix }].sort((a, b) => (a.prefix < b.prefix ? -1 : 1));
    this.#byIssuer.set(issuer, ordered);
  }

  #bind(binding: Named & { readonly tenant: string }, path: string): void {
    const grantee = this.granteeOf(binding);
    if (grantee !== undefined && grantee !== binding.tenant) {
      throw fault(
        `${path}.subject`,
        'must not be granted to another tenant. Bind it for that one, or narrow the grant',
      );
    }
    if (this.#configured.has(nameOf(binding))) {
      throw fault(`${path}.subject`, 'must be bound once. Remove one of the bindings');
    }
    this.#configured.set(nameOf(binding), binding.tenant);
  }
}

interface Ordered {
  readonly tenant: string;
  readonly prefix: string;
}

/** A letter, a digit, or a character that is common within names. */
const SEPARATED = /[^\p{L}\p{N}._-]$/u;

/** Returns the last prefix that is not after a subject: the only one that can be its beginning. */
function lastUpTo(ordered: readonly Ordered[], subject: string): Ordered | undefined {
  let [from, to] = [0, ordered.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ordered[middle]?.prefix ?? '') <= subject) from = middle + 1;
    else to = middle;
  }
  return ordered[from - 1];
}

function nameOf({ issuer, subject }: Named): string {
  return JSON.stringify([issuer, subject]);
}

function fault(path: string, problem: string): TypeError {
  return new TypeError(`storedAccess: workloads.${path} ${problem}.`);
}
