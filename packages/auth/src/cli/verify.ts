import { parseArgs } from 'node:util';
import { entryHash } from '../audit/chain.ts';
import { checkpointVerifier } from '../audit/checkpoint.ts';
import {
  type AuditAnomaly,
  type AuditReader,
  type AuditVerification,
  type ExpectedHead,
  verifyAudit,
} from '../audit/verify.ts';
import { auditFile, isRecorded, lastCheckpoint } from './audit-file.ts';
import { type Terminal, UsageError } from './terminal.ts';
import { isExport, verifyExport } from './verify-export.ts';

export const VERIFY_HELP = `Usage: svc-audit verify FILE --public-key KEY [--checkpoints FILE | --expected SEQUENCE:HASH]

Verifies an audit log without a network. FILE is one of two:
- a whole log, with one entry or checkpoint a line, as auditLines of @svc/auth/audit writes them: every hash, link and
  checkpoint is verified;
- an export of svc-audit export: the signed head, every hash, and every proof that an entry is in the log are verified.

Options:
  --public-key KEY          checkpointPublicKey of the host, from its discovery document; again for each former key
  --checkpoints FILE        the file of the checkpoint sink: the log must contain the entry of its last checkpoint
  --expected SEQUENCE:HASH  the log must contain this entry
  --json                    prints the result as JSON

Without --checkpoints and --expected, a log that was cut at its end is not detected.

Exit code: 0 the log is valid, 1 it is not, 2 wrong usage.
`;

/** Runs `svc-audit verify` and returns the exit code. */
export async function verifyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'public-key': { type: 'string', multiple: true, default: [] },
      checkpoints: { type: 'string' },
      expected: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0) throw new UsageError('FILE: must be given once. Pass one file.');
  const publicKeys = values['public-key'];
  if (publicKeys.length === 0 || !publicKeys.every((key) => /^[A-Za-z0-9+/]{59}=$/.test(key)))
    throw new UsageError(
      '--public-key: must be a checkpointPublicKey. Copy it from the audit section of the discovery document.',
    );
  if (await isExport(path)) {
    if ((values.checkpoints ?? values.expected) !== undefined)
      throw new UsageError('--checkpoints, --expected: belong to a whole log. Leave them out for an export.');
    return verifyExport(path, publicKeys, { json: values.json, terminal });
  }
  const expected = await expectedHead(values, publicKeys);
  const log = await auditFile(path);
  const head = await log.head();
  if (head === undefined && expected === undefined)
    throw new UsageError('FILE: holds no entry. Pass --checkpoints, so that the missing entries are named.');
  const result = await verifyAudit(log, { fromSeq: 1, toSeq: head?.atSequence ?? 1, publicKeys, expected });
  const isStartKnown = await startIsRecorded(log, result, values.checkpoints);
  terminal.stdout.write(
    values.json
      ? `${JSON.stringify(result, undefined, 2)}\n`
      : `${report(result, head?.atSequence ?? 0, expected)}${startReport(result, isStartKnown)}`,
  );
  return result.chainValid && isStartKnown !== false ? 0 : 1;
}

/** Returns whether the sink has recorded the start of the log; undefined without a start or without a sink. */
async function startIsRecorded(
  log: AuditReader,
  { start }: AuditVerification,
  checkpoints: string | undefined,
): Promise<boolean | undefined> {
  if (start === undefined || checkpoints === undefined) return undefined;
  for await (const entry of log.entries(start.atSequence, start.atSequence))
    return await isRecorded(checkpoints, start, entryHash(entry));
  return false;
}

function startReport({ start }: AuditVerification, isRecorded: boolean | undefined): string {
  if (start === undefined) return '';
  const place = `checkpoint ${JSON.stringify(start.checkpoint)} at entry ${start.atSequence}`;
  if (isRecorded === undefined)
    return `· The log starts with ${place}. Pass --checkpoints to verify that its sink has recorded it.\n`;
  return isRecorded
    ? `✓ The log starts with ${place}, which its sink has recorded.\n`
    : `✗ The log starts with ${place}, which its sink has not recorded.\n`;
}

async function expectedHead(
  { checkpoints, expected }: { readonly checkpoints?: string; readonly expected?: string },
  publicKeys: readonly string[],
): Promise<ExpectedHead | undefined> {
  if (checkpoints !== undefined && expected !== undefined)
    throw new UsageError('--checkpoints, --expected: exclude each other. Pass one of them.');
  if (expected !== undefined) {
    const [, sequence, hash] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(expected) ?? [];
    if (sequence === undefined || hash === undefined)
      throw new UsageError('--expected: must be a sequence number and a hash. Pass both, joined by a colon.');
    return { atSequence: Number(sequence), hash };
  }
  if (checkpoints === undefined) return undefined;
  const last = await lastCheckpoint(checkpoints);
  if (!(await checkpointVerifier(publicKeys)(last)))
    throw new UsageError(
      `--checkpoints: no public key has signed the last checkpoint, at entry ${last.atSequence}. Pass the key of its signer.`,
    );
  // The checkpoint itself may be missing in the log: the host can crash between its copy and its own record.
  return { atSequence: last.atSequence, hash: last.hash };
}

function report(result: AuditVerification, end: number, expected: ExpectedHead | undefined): string {
  const { checkpoints, anomalies, chainValid } = result;
  const sealedTo = checkpoints.at(-1)?.atSequence ?? 0;
  const lines = [
    `The log ends at entry ${end}. It has ${checkpoints.length} checkpoints, the last one at entry ${sealedTo}.`,
  ];
  lines.push(...anomalies.map((anomaly) => `✗ ${sentence(anomaly)}`));
  if (chainValid) lines.push('✓ Every entry and every checkpoint is valid.');
  if (chainValid && expected !== undefined) lines.push(`✓ The log contains the expected entry ${expected.atSequence}.`);
  if (expected === undefined) lines.push('· The end of the log is not verified. Pass --checkpoints or --expected.');
  return `${lines.join('\n')}\n`;
}

function sentence({ kind, atSeq, checkpoint, detail }: AuditAnomaly): string {
  const place =
    checkpoint === undefined ? `entry ${atSeq}` : `checkpoint ${JSON.stringify(checkpoint)} at entry ${atSeq}`;
  return `${kind}: ${place}${detail === undefined ? '' : `. ${detail}`}`;
}
