import type { Major } from '../version.ts';

/** The identity that a run was created under, as recorded. @see Interface: Run owner (identity triple) */
export interface OwnerRecord {
  readonly tenant: string;
  readonly workspace?: string;
  readonly principal?: string;
  readonly principalKind?: 'user' | 'agent' | 'anonymous';
  readonly subject?: SubjectRecord;
}

/** @see Interface: Subject record */
export interface SubjectRecord {
  readonly issuer: string;
  readonly subjectId: string;
  readonly tenant: string;
  readonly lane: string;
  readonly kind: 'user' | 'agent' | 'anonymous' | 'workload';
  readonly keyClass?: string;
  readonly actor?: SubjectRecord;
}

/** The owner as a major shows it: the recorded triple in major 1, scope and Subject alone in major 2. */
export const projectOwner: Readonly<Record<Major, (owner: OwnerRecord) => OwnerRecord>> = {
  1: (owner) => owner,
  2: ({ tenant, workspace, ...identity }) => {
    const subject = identity.subject ?? legacySubject(tenant, identity);
    return { tenant, ...(workspace !== undefined && { workspace }), ...(subject !== undefined && { subject }) };
  },
};

/** For a run recorded before its host knew Subjects. Without a principal there is none. */
function legacySubject(
  tenant: string,
  { principal, principalKind }: Pick<OwnerRecord, 'principal' | 'principalKind'>,
): SubjectRecord | undefined {
  if (principal === undefined) return undefined;
  return { issuer: 'urn:svc:legacy', subjectId: principal, tenant, lane: 'api-key', kind: principalKind ?? 'user' };
}
