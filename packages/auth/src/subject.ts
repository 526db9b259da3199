import { AuthError } from './errors.ts';
import { isOpaqueId, OPAQUE_ID_RULE } from './opaque-id.ts';

/**
 * Who acted, in a form that names no person.
 *
 * @see Interface: Subject record (optional `owner.subject`)
 */
export interface Subject {
  /** The trust root: the same id from two roots is two subjects. */
  readonly issuer: string;
  readonly subjectId: string;
  readonly tenant: string;
  /** How the subject authenticated, e.g. `api-key`, `saml`. */
  readonly lane: string;
  readonly kind: 'user' | 'agent' | 'anonymous' | 'workload';
  /** Which kind of key `saml` and `scim` link accounts by; they must say it. */
  readonly keyClass?: string;
  /** Who delegated, at most four deep. Provenance: it grants nothing. */
  readonly actor?: Subject;
}

/** The owner of a run, as far as its subject has to agree with it. */
export interface SubjectOwner {
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly principalKind?: 'user' | 'agent' | 'anonymous' | undefined;
}

export interface SubjectRules {
  /** `auth.subjectLinkKey`, of a host that advertises both the SAML and the SCIM profile: such subjects must have this `keyClass`. */
  readonly linkKey?: string;
}

/**
 * Checks a Subject record as it enters a run record, and returns it with the fields of the interface alone.
 *
 * @throws {TypeError} naming the field that is malformed or disagrees with the owner
 * @throws {AuthError} `run_forbidden` for a chain of actors deeper than four; it is never shortened to fit
 * @example
 * const subject = checkedSubject(principal.subject, { tenant: 'acme', principal: principal.id });
 * @see Interface: Subject record (optional `owner.subject`)
 */
export function checkedSubject(subject: Subject, owner: SubjectOwner, { linkKey }: SubjectRules = {}): Subject {
  const { tenant, principal, principalKind } = owner;
  const checked = checkedChain(subject, 'subject', 0);
  if (checked.tenant !== tenant) throw new TypeError('subject.tenant must equal owner.tenant.');
  if (principal !== undefined && checked.subjectId !== principal) {
    throw new TypeError('subject.subjectId must equal owner.principal.');
  }
  if (principalKind !== undefined && checked.kind !== principalKind) {
    throw new TypeError('subject.kind must equal owner.principalKind. Omit principalKind for a workload.');
  }
  if (linkKey !== undefined && checked.keyClass !== undefined && checked.keyClass !== linkKey) {
    throw new TypeError('subject.keyClass must equal the subjectLinkKey that the host advertises.');
  }
  return checked;
}

/** Whether two records are of one subject: an id means nothing without its trust root and its tenant. */
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

/** A pattern by itself would read what is absent as the text `undefined`. */
function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value);
}

const ISSUER = /^[^\s\p{C}]{1,1024}$/u;
const LANE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const KINDS: ReadonlySet<string> = new Set(['user', 'agent', 'anonymous', 'workload'] satisfies Subject['kind'][]);
const LINKED_LANES: ReadonlySet<string> = new Set(['saml', 'scim']);
