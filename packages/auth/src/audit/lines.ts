import type { AuditReader } from './verify.ts';

/**
 * Writes a whole log as JSON Lines, for `svc-audit verify`: each entry with its hash, and each checkpoint after the
 * last entry that it covers. Memory is one entry, and the checkpoints. When earlier entries were removed, the first line
 * is `{ start }`, the checkpoint with which the log starts, and the entry of that checkpoint follows.
 *
 * @example
 * for await (const line of auditLines(store.audit)) process.stdout.write(`${line}\n`);
 */
export async function* auditLines(reader: AuditReader): AsyncGenerator<string, void, void> {
  // Read before the head: a checkpoint that is made meanwhile would cover entries that are not written.
  const start = await reader.start?.();
  const removed = start?.atSequence ?? 0;
  const stored = await reader.checkpoints(0, Number.MAX_SAFE_INTEGER);
  const checkpoints = stored.filter(({ atSequence }) => atSequence > removed);
  if (start !== undefined) yield JSON.stringify({ start });
  const end = (await reader.head())?.atSequence ?? 0;
  for await (const entry of reader.entries(Math.max(1, removed), end)) {
    const { atSequence, action, actor, target, occurredAt, details, prevHash, hash } = entry;
    while (checkpoints[0] !== undefined && checkpoints[0].atSequence < atSequence)
      yield JSON.stringify(checkpoints.shift());
    yield JSON.stringify({ atSequence, action, actor, target, occurredAt, details, prevHash, hash });
  }
  for (const checkpoint of checkpoints) yield JSON.stringify(checkpoint);
}
