/** A verifier of a log of generated entries. Argument: their number. Prints the verdict as JSON. */
import { type AuditReader, nextEntry, type StoredEntry, verifyAudit } from '@svc/auth/audit';

const total = Number(process.argv[2]);

async function* entries(fromSeq: number, toSeq: number) {
  let head: StoredEntry | undefined;
  for (let n = 1; n <= Math.min(toSeq, total); n++) {
    const occurredAt = new Date(Date.UTC(2026, 5, 1) + n).toISOString();
    const details = { status: 201, scope: 'runs:create' };
    head = nextEntry(head, { action: 'run.create', actor: `p_${n}`, target: `acme/run_${n}`, occurredAt, details });
    if (n >= fromSeq) yield head;
  }
}

const reader: AuditReader = {
  head: async () => ({ atSequence: total, hash: '' }),
  entries,
  checkpoints: async () => [],
};
// No checkpoint, so nothing is signed.
console.log(JSON.stringify(await verifyAudit(reader, { fromSeq: 1, toSeq: total, publicKeys: [] })));
