import type { AccessRecord } from './access.ts';

/** The `hash` of a change of access in the feed. No key has it. */
export const ACCESS_CHANGE = 'access';

/**
 * Returns the lookup of a record: that by which a decision about a request finds it.
 *
 * @example
 * await index(record.id, lookupOf(record)); // in `put` of a store of your own
 */
export function lookupOf(record: AccessRecord): string {
  switch (record.kind) {
    case 'role':
      return roleLookup(record.tenant);
    case 'assignment':
      return assignmentLookup(record.tenant, record.principal);
    case 'binding':
      return bindingLookup(record.tenant, record);
    case 'withdrawal':
      return record.withdraws === 'principal'
        ? principalLookup(record.tenant, record.name)
        : tokenLookup(record.tenant, record.withdraws, record.issuer ?? '', record.name);
  }
}

/** The roles of a tenant. */
export function roleLookup(tenant: string): string {
  return `role/${part(tenant)}`;
}

/** The assignments of a principal. */
export function assignmentLookup(tenant: string, principal: string): string {
  return `assignment/${part(tenant)}/${part(principal)}`;
}

/** The binding of an identity in a tenant. */
export function bindingLookup(
  tenant: string,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): string {
  return `binding/${part(tenant)}/${part(JSON.stringify([issuer, subject]))}`;
}

/** The withdrawals of a principal. */
export function principalLookup(tenant: string, principal: string): string {
  return `withdrawal/${part(tenant)}/${part(principal)}`;
}

/** The withdrawals by one claim of a token, of one tenant; `''`: those of every tenant. */
export function tokenLookup(
  tenant: string,
  withdraws: 'token' | 'session' | 'subject',
  issuer: string,
  name: string,
): string {
  return `${withdraws}/${part(tenant)}/${part(JSON.stringify([issuer, name]))}`;
}

/** Returns the tenant of a lookup; undefined for one of every tenant, or of one whose id is encoded. */
export function tenantOfLookup(lookup: string): string | undefined {
  const [, tenant = ''] = lookup.split('/', 2);
  return tenant !== '' && PLAIN.test(tenant) ? tenant : undefined;
}

/**
 * Encodes a part of a lookup, so that it has neither white space nor a slash. A long one loses its middle: the decision
 * compares the names themselves.
 */
function part(text: string): string {
  if (PLAIN.test(text)) return text;
  // JSON escapes half a surrogate pair, which has no encoding.
  const encoded = encodeURIComponent(JSON.stringify(text));
  return encoded.length <= LONGEST ? encoded : `${encoded.slice(0, LONGEST / 2)}${encoded.slice(-LONGEST / 2)}`;
}

const PLAIN = /^[A-Za-z0-9._~-]{0,256}$/;
/** An index of PostgreSQL takes about 2700 bytes. */
const LONGEST = 900;
