import { sha256 } from '#sha256';
import { canonicalJson } from './canonical-json.ts';
import { type AuditFact, checkedFact } from './fact.ts';

/**
 * A fact at its place in the chain. It contains the hash of the previous entry, so a changed, dropped or moved entry is
 * detected.
 */
export interface AuditEntry extends AuditFact {
  /** Sequence number, from 1 without gaps. */
  readonly atSequence: number;
  /** Hash of the previous entry; null for the first. */
  readonly prevHash: string | null;
}

/** An entry as it is stored, with its own hash. The next entry and the checkpoints contain this hash. */
export interface StoredEntry extends AuditEntry {
  /** `entryHash` of the entry. */
  readonly hash: string;
}

/** The last entry of a chain. */
export interface ChainHead {
  /** Its sequence number. */
  readonly atSequence: number;
  /** Its hash. */
  readonly hash: string;
}

/**
 * Makes the next entry of a chain. Read the head and write the entry in one transaction.
 *
 * @param head undefined for the first entry
 * @throws {TypeError} for a fact that `checkedFact` refuses
 * @example
 * const entry = nextEntry(head, fact);
 * @see Interface: Audit logging; the profile `svc-audit-log-integrity`
 */
export function nextEntry(head: ChainHead | undefined, fact: AuditFact): StoredEntry {
  const { action, actor, target, occurredAt, details } = checkedFact(fact);
  const atSequence = (head?.atSequence ?? 0) + 1;
  const entry: AuditEntry = { atSequence, action, actor, target, occurredAt, details, prevHash: head?.hash ?? null };
  return { ...entry, hash: entryHash(entry) };
}

/**
 * Returns the SHA-256 of an entry's canonical JSON, in lower-case hexadecimal.
 *
 * @example
 * const isIntact = entryHash(entry) === entry.hash;
 * @see RFC 8785
 */
export function entryHash(entry: AuditEntry): string {
  const { atSequence, action, actor, target, occurredAt, details, prevHash } = entry;
  return sha256(UTF_8.encode(canonicalJson({ action, actor, atSequence, details, occurredAt, prevHash, target })));
}

const UTF_8 = new TextEncoder();
