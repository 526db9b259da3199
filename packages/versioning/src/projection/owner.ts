import type { Major } from '../version.ts';

/** The recorded identity that created a run. @see Interface: Run owner (identity triple) */
export interface OwnerRecord {
  /** The tenant of the run. */
  readonly tenant: string;
  /** The workspace of the run. */
  readonly workspace?: string;
  /** The principal that created the run. */
  readonly principal?: string;
  /** The kind of the principal. Default: `user`. */
  readonly principalKind?: 'user' | 'agent' | 'anonymous';
  /** The subject behind the principal; absent on runs that were recorded before the host knew subjects. */
  readonly subject?: SubjectRecord;
  /**
   * The lane that the host attests for a run without a subject. Default: `api-key`. Not itself part of a projection.
   */
  readonly attestedLane?: string;
}

/** A person, agent or workload as an issuer identifies it. @see Interface: Subject record */
export interface SubjectRecord {
  /** The issuer that vouches for `subjectId`; `urn:svc:legacy` for a synthesised subject. */
  readonly issuer: string;
  /** The identifier of the subject, unique to the issuer. */
  readonly subjectId: string;
  /** The tenant in which the subject acts. */
  readonly tenant: string;
  /** The lane that authenticated the subject, for example `api-key` or `oidc`. */
  readonly lane: string;
  /** The kind of the subject. */
  readonly kind: 'user' | 'agent' | 'anonymous' | 'workload';
  /** The class of `subjectId`, for example `email`. */
  readonly keyClass?: string;
  /** The subject that acts for this one. */
  readonly actor?: SubjectRecord;
}

/** The owner in a response. */
export type ProjectedOwner = Omit<OwnerRecord, 'attestedLane'>;

/**
 * Converts a recorded owner to the owner in a response, by major: the recorded triple in major 1; only tenant,
 * workspace and subject in major 2, which synthesises a subject for a principal that has none.
 *
 * @example
 * import { projectOwner } from '@svc/versioning/projection';
 *
 * projectOwner[2]({ tenant: 'acme', principal: 'p_1' }).subject?.issuer; // 'urn:svc:legacy'
 */
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

/**
 * Returns true when a subject may be linked to another one. A synthesised subject may not, because no issuer vouches
 * for it.
 *
 * @example
 * import { isLinkable, projectOwner } from '@svc/versioning/projection';
 *
 * const { subject } = projectOwner[2]({ tenant: 'acme', principal: 'p_1' });
 * subject !== undefined && isLinkable(subject); // false
 */
export function isLinkable(subject: SubjectRecord): boolean {
  return subject.issuer !== LEGACY_ISSUER;
}

const LEGACY_ISSUER = 'urn:svc:legacy';

/**
 * Synthesises the subject of a run that was recorded without one. Returns undefined when the run has no principal
 * either.
 */
function legacySubject({ tenant, principal, principalKind, attestedLane }: OwnerRecord): SubjectRecord | undefined {
  if (principal === undefined) return undefined;
  const lane = attestedLane ?? 'api-key';
  return { issuer: LEGACY_ISSUER, subjectId: principal, tenant, lane, kind: principalKind ?? 'user' };
}
