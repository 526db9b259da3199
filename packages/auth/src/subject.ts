import { AuthError } from './errors.ts';
import { isOpaqueId, OPAQUE_ID_RULE } from './opaque-id.ts';

/**
 * The actor of a request, in a form that names no person.
 *
 * @see Interface: Subject record (optional `owner.subject`)
 */
export interface Subject {
  /** The trust root, a URI or URN. The same id from two issuers is two subjects. */
  readonly issuer: string;
  /** Opaque id of the subject at the issuer. */
  readonly subjectId: string;
  /** Opaque id of the tenant. */
  readonly tenant: string;
  /** The way in which the subject authenticated, e.g. `api-key`, `saml`. */
  readonly lane: string;
  /** The kind of the subject; `workload` when none was stated. */
  readonly kind: 'user' | 'agent' | 'anonymous' | 'workload';
  /** The kind of key by which `saml` and `scim` link accounts. Those two lanes require it. */
  readonly keyClass?: string;
  /** The delegate that acts for the subject, at most four deep. Provenance: it grants nothing. */
  readonly actor?: Subject;
}

/** The fields of a run's owner with which its subject must agree. */
export interface SubjectOwner {
  /** Must equal `subject.tenant`. */
  readonly tenant: string;
  /** Must equal `subject.subjectId` when it is set. */
  readonly principal?: string | undefined;
  /** Must equal `subject.kind` when it is set. Leave it out for a workload. */
  readonly principalKind?: 'user' | 'agent' | 'anonymous' | undefined;
}

/** Rules of the host for Subject records. */
export interface SubjectRules {
  /**
   * The advertised `auth.subjectLinkKey` of a host with the SAML and the SCIM profile. A `keyClass` must equal it.
   * Default: any.
   */
  readonly linkKey?: string;
}

/**
 * Checks a Subject record before it enters a run record. Returns a copy with the fields of the interface only.
 *
 * @throws {TypeError} for a field that is malformed or disagrees with the owner; the message names the field
 * @throws {AuthError} `run_forbidden` for a chain of more than four actors; it is never truncated
 * @example
 * const subject = checkedSubject(principal.subject, { tenant: 'acme', principal: principal.id });
 * @see Interface: Subject record (optional `owner.subject`)
 */
export function checkedSubject(subject: Subject, owner: SubjectOwner, { linkKey }: SubjectRules = {}): Subject {
  const { tenant, principal, principalKind } = owner;
  const checked = checkedChain(subject, 'subject', 0);
  if (checked.tenant !== tenant)
    throw new TypeError('subject.tenant must equal owner.tenant. Pass the subject of this owner.');
  if (principal !== undefined && checked.subjectId !== principal) {
    throw new TypeError('subject.subjectId must equal owner.principal. Pass the subject of this owner.');
  }
  if (principalKind !== undefined && checked.kind !== principalKind) {
    throw new TypeError('subject.kind must equal owner.principalKind. Omit principalKind for a workload.');
  }
  if (linkKey !== undefined && checked.keyClass !== undefined && checked.keyClass !== linkKey) {
    throw new TypeError('subject.keyClass must equal the subjectLinkKey of discovery. Pass that key.');
  }
  return checked;
}

/**
 * Returns whether two records are of one subject: issuer, tenant and id are equal.
 *
 * @example
 * isSameSubject(run.owner.subject, principal.subject);
 */
export function isSameSubject(one: Subject, other: Subject): boolean {
  return one.issuer === other.issuer && one.subjectId === other.subjectId && one.tenant === other.tenant;
}

const MAX_ACTOR_DEPTH = 4;

function checkedChain(subject: Subject, path: string, depth: number): Subject {
  if (depth > MAX_ACTOR_DEPTH) {
    throw new AuthError(
      'run_forbidden',
      'The actor chain of the credential has more than four actors. Use a shorter chain.',
      undefined,
      { reason: 'grants' },
    );
  }
  if (typeof subject !== 'object' || subject === null) throw new TypeError(`${path} must be a Subject record.`);
  const { issuer, subjectId, tenant, lane, kind, keyClass, actor } = subject;
  const refuse = (field: string, expected: string) => new TypeError(`${path}.${field} must be ${expected}.`);
  if (!matches(ISSUER, issuer)) throw refuse('issuer', 'a URI or URN of at most 1024 characters, without white space');
  if (!isOpaqueId(subjectId)) throw refuse('subjectId', OPAQUE_ID_RULE);
  if (!isOpaqueId(tenant)) throw refuse('tenant', OPAQUE_ID_RULE);
  if (!matches(LANE, lane)) throw refuse('lane', 'a name of lower-case letters, digits and hyphens');
  if (!KINDS.has(kind)) throw refuse('kind', 'user, agent, anonymous or workload');
  if (keyClass === undefined ? LINKED_LANES.has(lane) : !isOpaqueId(keyClass)) {
    throw refuse('keyClass', 'an opaque id; the lanes saml and scim require it');
  }
  return {
    issuer,
    subjectId,
    tenant,
    lane,
    kind,
    ...(keyClass !== undefined && { keyClass }),
    ...(actor !== undefined && { actor: checkedChain(actor, `${path}.actor`, depth + 1) }),
  };
}

/** A pattern alone would match `undefined` as the text `undefined`. */
function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value);
}

const ISSUER = /^[^\s\p{C}]{1,1024}$/u;
const LANE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const KINDS: ReadonlySet<string> = new Set(['user', 'agent', 'anonymous', 'workload'] satisfies Subject['kind'][]);
const LINKED_LANES: ReadonlySet<string> = new Set(['saml', 'scim']);
