import type { Major } from '../version.ts';

/** The identity that a run was created under, as recorded. @see Interface: Run owner (identity triple) */
export interface OwnerRecord {
  readonly tenant: string;
  readonly workspace?: string;
  readonly principal?: string;
  readonly principalKind?: 'user' | 'agent' | 'anonymous';
  readonly subject?: SubjectRecord;
  /** The lane that the host can attest for a run recorded without a subject. Not shown as it is in either major. */
  readonly attestedLane?: string;
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

/** An owner as it goes out. */
export type ProjectedOwner = Omit<OwnerRecord, 'attestedLane'>;

/** The owner as a major shows it: the recorded triple in major 1, scope and subject alone in major 2. */
export const projectOwner: Readonly<Record<Major, (owner: OwnerRecord) => ProjectedOwner>> = {
  1: ({ tenant, workspace, principal, principalKind, subject }) => ({
    tenant,
    ...(workspace !== undefined && { workspace }),
    ...(principal !== undefined && { principal }),
    ...(principalKind !== undefined && { principalKind }),
    ...(subject !== undefined && { subject }),
  }),
  2: (owner) => {
    const { tenant, workspace, subject = legacySubject(owner) } = owner;
    return { tenant, ...(workspace !== undefined && { workspace }), ...(subject !== undefined && { subject }) };
  },
};

/** Whether a subject may be linked to another one: never when it was synthesised, whose issuer vouches for nothing. */
export function isLinkable(subject: SubjectRecord): boolean {
  return subject.issuer !== LEGACY_ISSUER;
}

const LEGACY_ISSUER = 'urn:svc:legacy';

/** For a run recorded before its host knew subjects. Without a principal there is none. */
function legacySubject({ tenant, principal, principalKind, attestedLane }: OwnerRecord): SubjectRecord | undefined {
  if (principal === undefined) return undefined;
  const lane = attestedLane ?? 'api-key';
  return { issuer: LEGACY_ISSUER, subjectId: principal, tenant, lane, kind: principalKind ?? 'user' };
}
