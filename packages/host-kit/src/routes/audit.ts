import { type ExpectedHead, verifyAudit } from '@svc/auth/audit';
import { z } from 'zod';
import { type FieldProblem, invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type AuthorizedCall, type Route, route } from '../http/route.ts';
import type { AuditStore } from '../ports/audit.ts';
import { auditVerification } from '../wire/audit.ts';

export interface AuditRoutesOptions {
  readonly audit: AuditStore;
  /** The public keys of the signer and of its predecessors, in PEM. */
  readonly publicKeys: readonly string[];
}

/** Defines the route that verifies the audit log. @see Interface: GET /v1/audit/verify */
export function auditRoutes({ audit, publicKeys }: AuditRoutesOptions): Route[] {
  return [
    route({
      operationId: 'verifyAudit',
      scope: 'audit:read',
      describes: {
        tag: 'Audit',
        summary: 'Verify the audit log',
        description: DESCRIPTION,
        query: { fromSeq: SEQUENCE, toSeq: SEQUENCE, ...EXPECTED },
        answers: { 200: json('The result of the verification.', auditVerification, { headers: ['Cache-Control'] }) },
      },
      async serve(call) {
        const fromSeq = sequenceIn(call, 'fromSeq');
        const toSeq = sequenceIn(call, 'toSeq');
        if (toSeq < fromSeq) throw invalid({ field: 'query.toSeq', problem: 'must not be below fromSeq' });
        const range = { fromSeq, toSeq, publicKeys, expected: expectedIn(call) };
        // The result is closed. The start of the log is the first of its checkpoints.
        const { checkpoints, anomalies, start: _start, ...result } = await verifyAudit(audit, range);
        return {
          status: 200,
          headers: { 'cache-control': 'private, no-store' },
          body: {
            ...result,
            checkpoints: checkpoints.map((checkpoint) => ({ ...checkpoint })),
            anomalies: anomalies.map((anomaly) => ({ ...anomaly })),
          },
        };
      },
    }),
  ];
}

const SEQUENCE = z.int().min(0).describe('A sequence of the log. Both bounds are inclusive.');

const DESCRIPTION =
  'Verifies every hash, link and checkpoint from `fromSeq` to `toSeq`. With `expectedSeq`, it also verifies that the ' +
  'log still contains a head or a checkpoint that the caller stored earlier: a log that was cut, emptied or restored ' +
  'to an earlier state is not valid then, and `detail` of an anomaly names what is missing. When the host has removed ' +
  'old entries, the log starts with a checkpoint: it is the first of `checkpoints`, and `fromSeq` is the entry after it.';

const DIGEST = z.string().regex(/^[0-9a-f]{64}$/);

const EXPECTED = {
  expectedSeq: z
    .int()
    .min(1)
    .optional()
    .describe('The sequence of an entry that the log must contain. It needs `expectedHash`, `expectedRoot` or both.'),
  expectedHash: DIGEST.optional().describe('The hash of that entry.'),
  expectedRoot: DIGEST.optional().describe('The `merkleRoot` of a checkpoint with this `atSequence`.'),
};

/** Reads the head or the checkpoint that the caller expects in the log; undefined when none is given. */
function expectedIn(call: AuthorizedCall): ExpectedHead | undefined {
  const { query } = call;
  const [hash, merkleRoot] = [digestIn(call, 'expectedHash'), digestIn(call, 'expectedRoot')];
  const hasDigest = hash !== undefined || merkleRoot !== undefined;
  if (!query.has('expectedSeq')) {
    if (hasDigest) throw invalid({ field: 'query.expectedSeq', problem: 'must be given with its hash or root' });
    return undefined;
  }
  const atSequence = sequenceIn(call, 'expectedSeq');
  if (atSequence < 1) throw invalid({ field: 'query.expectedSeq', problem: 'must be at least 1' });
  if (!hasDigest) throw invalid({ field: 'query.expectedHash', problem: 'or expectedRoot must be given' });
  return { atSequence, ...(hash !== undefined && { hash }), ...(merkleRoot !== undefined && { merkleRoot }) };
}

function digestIn({ query }: AuthorizedCall, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  if (value === undefined) return undefined;
  const isDigest = others.length === 0 && /^[0-9a-f]{64}$/.test(value);
  if (!isDigest)
    throw invalid({ field: `query.${name}`, problem: 'must be given once, as 64 lower-case hexadecimal digits' });
  return value;
}

function sequenceIn({ query }: AuthorizedCall, name: string): number {
  const [value, ...others] = query.getAll(name);
  const isSequence = value !== undefined && others.length === 0 && /^(?:0|[1-9][0-9]{0,14})$/.test(value);
  const problem: FieldProblem = {
    field: `query.${name}`,
    problem: 'must be given once, as a whole number of at least 0',
  };
  if (!isSequence) throw invalid(problem);
  return Number(value);
}
