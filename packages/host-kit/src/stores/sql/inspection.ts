import { sealedForSecret } from '../../ports/byok.ts';
import { sealedForAnswer } from '../../ports/captured-answers.ts';
import { sealedForReply } from '../../ports/idempotency.ts';
import { sealedForRun } from '../../ports/opened-secrets.ts';
import type { SealedRecord } from '../../ports/sealed-record.ts';
import { capturedOf } from './captured-answers.ts';
import { openedSecretOf } from './opened-secrets.ts';
import { bytes, integer, type Row, text } from './row.ts';

/** The work that a host continues when it starts. */
export interface PendingWork {
  /** Runs that have not ended. */
  readonly runs: number;
  /** Deliveries that wait for an attempt. */
  readonly deliveries: number;
  /** Subscriptions that those deliveries belong to. */
  readonly subscriptions: number;
}

/** Counts the work that a host continues. */
export const PENDING = `SELECT
  (SELECT count(*) FROM runs WHERE status NOT IN ('completed', 'failed', 'cancelled')) AS runs,
  (SELECT count(*) FROM deliveries WHERE state <> 'dead') AS deliveries,
  (SELECT count(DISTINCT webhook_id) FROM deliveries WHERE state <> 'dead') AS subscriptions`;

/** Reads the row of `PENDING`. */
export function pendingOf(row: Row): PendingWork {
  return {
    runs: integer(row, 'runs'),
    deliveries: integer(row, 'deliveries'),
    subscriptions: integer(row, 'subscriptions'),
  };
}

/** A statement that reads sealed records. */
export interface SealedRecords {
  /** The schema version that has their table. Default: 1. */
  readonly since?: number;
  readonly sql: string;
  readonly recordOf: (row: Row) => SealedRecord;
}

/** Returns the statements that read the sealed records of a schema. A database is inspected before it is migrated, too. */
export function sealedIn(schemaVersion: number): readonly SealedRecords[] {
  return SEALED.filter(({ since = 1 }) => since <= schemaVersion);
}

const SEALED: readonly SealedRecords[] = [
  {
    sql: 'SELECT sealed_secret AS sealed, webhook_id FROM subscriptions',
    recordOf: (row) => ({ sealed: bytes(row, 'sealed'), boundTo: text(row, 'webhook_id') }),
  },
  {
    sql: `SELECT previous_sealed_secret AS sealed, webhook_id FROM subscriptions
      WHERE previous_sealed_secret IS NOT NULL`,
    recordOf: (row) => ({ sealed: bytes(row, 'sealed'), boundTo: text(row, 'webhook_id') }),
  },
  {
    sql: 'SELECT sealed_secrets AS sealed, trigger_id FROM triggers WHERE NOT removed',
    recordOf: (row) => ({ sealed: bytes(row, 'sealed'), boundTo: text(row, 'trigger_id') }),
  },
  {
    sql: 'SELECT sealed, tenant, workspace, mode, name FROM byok_secrets',
    recordOf(row) {
      // An empty workspace is the whole tenant.
      const workspace = text(row, 'workspace');
      const place = { tenant: text(row, 'tenant'), mode: modeOf(row), ...(workspace !== '' && { workspace }) };
      return { sealed: bytes(row, 'sealed'), boundTo: sealedForSecret(place, text(row, 'name')) };
    },
  },
  {
    since: 2,
    sql: 'SELECT * FROM opened_secrets',
    recordOf(row) {
      const opened = openedSecretOf(row);
      return { sealed: opened.sealed, boundTo: sealedForRun(opened) };
    },
  },
  {
    sql: 'SELECT sealed, tenant, mode, operation, key_hash FROM idempotency_keys WHERE sealed IS NOT NULL',
    recordOf(row) {
      const owner = { tenant: text(row, 'tenant'), mode: modeOf(row), operation: text(row, 'operation') };
      return { sealed: bytes(row, 'sealed'), boundTo: sealedForReply({ ...owner, keyHash: text(row, 'key_hash') }) };
    },
  },
  {
    sql: 'SELECT * FROM captured_answers',
    recordOf(row) {
      const answer = capturedOf(row);
      return { sealed: answer.sealed, boundTo: sealedForAnswer(answer) };
    },
  },
];

function modeOf(row: Row): 'live' | 'test' {
  return text(row, 'mode') === 'test' ? 'test' : 'live';
}
