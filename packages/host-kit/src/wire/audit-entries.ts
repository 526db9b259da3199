import type { StoredEntry } from '@svc/auth/audit';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const hashes = z.array(digest).max(64);

/** The schema of an entry of the audit log. */
const auditEntry = z
  .object({
    atSequence: z.int().min(1).describe('Sequence number. Those of one tenant have gaps: all tenants share one log.'),
    action: z.string(),
    actor: z.string().nullable().describe('The opaque id of the principal.'),
    target: z.string().nullable(),
    occurredAt: z.iso.datetime(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    prevHash: digest.nullable(),
    hash: digest.describe('SHA-256 of the canonical JSON of the entry.'),
    proof: hashes.optional().describe('The inclusion proof in the tree of `treeSize` entries, if that is given.'),
  })
  .meta({ id: 'AuditEntry' });

/** The schema of a page of entries. */
export const auditPage: z.ZodType = z
  .object({
    entries: z.array(auditEntry),
    nextBefore: z.int().min(1).optional().describe('The `before` of the next page. Absent on the last one.'),
  })
  .meta({ id: 'AuditEntries' });

/** The schema of an inclusion proof. */
export const auditInclusion: z.ZodType = z
  .object({
    leafIndex: z.int().min(0).describe('The sequence number, less one.'),
    treeSize: z.int().min(1),
    leafHash: digest.describe('SHA-256 of a zero byte and the 32 bytes of the hash of the entry.'),
    proof: hashes,
  })
  .meta({ id: 'AuditInclusion' });

/** The schema of a consistency proof. */
export const auditConsistency: z.ZodType = z
  .object({ first: z.int().min(1), second: z.int().min(1), proof: hashes })
  .meta({ id: 'AuditConsistency' });

/** An entry as a page shows it. */
export function auditEntryView(entry: StoredEntry, proof: readonly string[] | undefined): JsonObject {
  const { atSequence, action, actor, target, occurredAt, details, prevHash, hash } = entry;
  return {
    ...{ atSequence, action, actor, target, occurredAt, details: { ...details }, prevHash, hash },
    ...(proof !== undefined && { proof: [...proof] }),
  };
}
