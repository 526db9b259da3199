import { verifyAudit } from '@svc/auth/audit';
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
        description: 'Verifies every hash, link and checkpoint from `fromSeq` to `toSeq`.',
        query: { fromSeq: SEQUENCE, toSeq: SEQUENCE },
        answers: { 200: json('The result of the verification.', auditVerification, { headers: ['Cache-Control'] }) },
      },
      async serve(call) {
        const fromSeq = sequenceIn(call, 'fromSeq');
        const toSeq = sequenceIn(call, 'toSeq');
        if (toSeq < fromSeq) throw invalid({ field: 'query.toSeq', problem: 'must not be below fromSeq' });
        const { checkpoints, anomalies, ...result } = await verifyAudit(audit, { fromSeq, toSeq, publicKeys });
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
