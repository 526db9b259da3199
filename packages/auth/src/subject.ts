import { AuthError } from './errors.ts';

/** Who acted, in a form that names no person. @see Interface: Subject record */
export interface Subject {
  /** The trust root; the same id from two roots is two subjects. */
  readonly issuer: string;
  readonly subjectId: string;
  readonly tenant: string;
  readonly lane: string;
  readonly kind: 'user' | 'agent' | 'anonymous' | 'workload';
  readonly keyClass?: string;
  /** Who delegated, at most four deep. Provenance only. */
  readonly actor?: Subject;
}

/**
 * An identifier that may stand in a run record: opaque, without white space, `@`, slash, or anything that looks like a token
 * or a certificate.
 */
export function isOpaqueId(text: string): boolean {
  return /^[^\s@/]{1,256}$/.test(text) && !/^eyJ|-----BEGIN/.test(text);
}

/**
 * Checks a Subject as it enters a record.
 *
 * @throws {TypeError} for an id that is not opaque or a tenant that is not the owner's
 * @throws {AuthError} `run_forbidden` for an actor chain deeper than four; it is never truncated
 */
export function checkedSubject(subject: Subject): Subject {
  let depth = 0;
  for (let current: Subject | undefined = subject; current !== undefined; current = current.actor) {
    if (!isOpaqueId(current.subjectId))
      throw new TypeError('subjectId must be opaque: no @, white space, slash or token.');
    if (depth > MAX_ACTOR_DEPTH)
      throw new AuthError('run_forbidden', 'The actor chain is deeper than four.', undefined);
    depth++;
  }
  return subject;
}

const MAX_ACTOR_DEPTH = 4;
