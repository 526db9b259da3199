import { verifyAudit } from '@svc/auth/audit';
import { checkpointFile, compareWithSink, keyCoverageOf, systemClock } from '@svc/host-kit';
import type { Inspection } from './database.ts';
import type { PresentKeys } from './present-keys.ts';

/** The result of one check of a database. */
export interface Finding {
  readonly check: 'quick_check' | 'tables' | 'schema' | 'keys' | 'audit' | 'checkpoint-file';
  readonly ok: boolean;
  /** One sentence or two. */
  readonly text: string;
}

/** The parts of an examination. */
export interface Examination {
  readonly inspection: Inspection;
  readonly keys: PresentKeys;
  /** `quick_check` for SQLite, `tables` for PostgreSQL; null: the rows are not read for damage. */
  readonly damage: 'quick_check' | 'tables' | null;
  /** `audit.checkpointFile` of the configuration. Null: the log is compared with no file. */
  readonly checkpointFile: string | null;
}

/** Makes every check of a database. A check that cannot be made counts as failed. */
export async function examine(examination: Examination): Promise<readonly Finding[]> {
  const { damage, checkpointFile: copies } = examination;
  const checks: [Finding['check'], Judge][] = [
    ...(damage === null ? [] : [[damage, judgeDamage] satisfies [Finding['check'], Judge]]),
    ['schema', judgeSchema],
    ['keys', judgeKeys],
    ['audit', judgeAudit],
    ...(copies === null ? [] : [['checkpoint-file', judgeCopies] satisfies [Finding['check'], Judge]]),
  ];
  const findings: Finding[] = [];
  for (const [check, judge] of checks) {
    try {
      findings.push({ check, ...(await judge(examination)) });
    } catch (error) {
      findings.push({ check, ok: false, text: error instanceof Error ? error.message : 'The check failed.' });
    }
  }
  return findings;
}

/** Returns the line of a finding. */
export function lineOf({ check, ok, text }: Finding): string {
  return `${check}: ${ok ? 'ok' : 'FAILED'}. ${text}`;
}

type Judge = (examination: Examination) => Omit<Finding, 'check'> | Promise<Omit<Finding, 'check'>>;

async function judgeDamage({ inspection, damage }: Examination): Promise<Omit<Finding, 'check'>> {
  const [first, ...others] = await inspection.damage();
  if (first === undefined)
    return { ok: true, text: damage === 'tables' ? 'Every row can be read.' : 'The file is intact.' };
  const more = others.length === 0 ? '' : ` There are ${others.length} more faults.`;
  return { ok: false, text: `${first.replaceAll('\n', ' ')}.${more} Restore a backup.` };
}

function judgeSchema({ inspection: { schemaVersion, knownSchemaVersion } }: Examination): Omit<Finding, 'check'> {
  const text = `Version ${schemaVersion} of ${knownSchemaVersion}.`;
  if (schemaVersion > knownSchemaVersion)
    return { ok: true, text: `${text} A newer version of the host wrote it, and this one can use it.` };
  const migrates = schemaVersion < knownSchemaVersion ? ' The next start of the host migrates it.' : '';
  return { ok: true, text: text + migrates };
}

async function judgeKeys({ inspection, keys: { secretKeys } }: Examination): Promise<Omit<Finding, 'check'>> {
  const coverage = await keyCoverageOf(inspection.sealedRecords(), secretKeys);
  const { records, unopenable, keyIds, missingKeyIds } = coverage;
  if (unopenable === 0) return { ok: true, text: `${records} stored secrets open; they need ${list(keyIds)}.` };
  const missing = missingKeyIds.length === 0 ? '' : ` The missing key has the id ${missingKeyIds.join(', ')}.`;
  const remedy = 'Put the key back: secretKey, formerSecretKeys or the file -secret-key beside the database.';
  return { ok: false, text: `${unopenable} of ${records} stored secrets do not open.${missing} ${remedy}` };
}

async function judgeAudit({ inspection: { audit }, keys }: Examination): Promise<Omit<Finding, 'check'>> {
  const range = { fromSeq: 0, toSeq: Number.MAX_SAFE_INTEGER, publicKeys: keys.auditPublicKeys };
  const { anomalies, checkpoints } = await verifyAudit(audit, range);
  const head = await audit.head();
  const [first] = anomalies;
  const size = `${head?.atSequence ?? 0} entries, ${checkpoints.length} checkpoints`;
  if (first === undefined) return { ok: true, text: `${size} are verified.` };
  return { ok: false, text: `${first.kind} at ${first.atSeq}, ${anomalies.length} anomalies in ${size}.` };
}

/** Makes the comparison that a host makes at its start. */
async function judgeCopies(examination: Examination): Promise<Omit<Finding, 'check'>> {
  const { inspection, keys, checkpointFile: path } = examination;
  const recorded = await compareWithSink({
    audit: inspection.audit,
    sink: checkpointFile(path ?? ''),
    publicKeys: keys.auditPublicKeys,
    clock: systemClock,
    log: () => {},
  });
  if (recorded === 0) return { ok: true, text: `${path} has no checkpoint yet.` };
  return { ok: true, text: `The log has entry ${recorded}, the last one that ${path} has recorded.` };
}

function list(keyIds: readonly string[]): string {
  return keyIds.length === 0 ? 'no key' : `key ${keyIds.join(', ')}`;
}
