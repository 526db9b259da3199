import { sha256 } from '#sha256';
import { canonicalJson } from './canonical-json.ts';
import { type AuditFact, checkedFact } from './fact.ts';

/** A fact in its place. Each entry names the hash of the one before it, so none can be changed, dropped or moved unseen. */
export interface AuditEntry extends AuditFact {
  /** From 1, without gaps. */
  readonly atSequence: number;
  /** Of the entry before; null for the first. */
  readonly prevHash: string | null;
}

/** An entry as it is kept: with its own hash, which the next entry and the checkpoints are made of. */
export interface StoredEntry extends AuditEntry {
  readonly hash: string;
}

/** The end of a chain. */
export interface ChainHead {
  readonly atSequence: number;
  readonly hash: string;
}

/**
 * The entry that comes next in a chain. Whoever appends reads the head and writes the entry in one transaction.
 *
 * @param head undefined for the first entry
 * @throws {TypeError} for a fact that must not be written
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

/** SHA-256, in lower-case hexadecimal, of an entry's canonical JSON. @see RFC 8785 */
export function entryHash(entry: AuditEntry): string {
  const { atSequence, action, actor, target, occurredAt, details, prevHash } = entry;
  return sha256(UTF_8.encode(canonicalJson({ action, actor, atSequence, details, occurredAt, prevHash, target })));
}

const UTF_8 = new TextEncoder();
