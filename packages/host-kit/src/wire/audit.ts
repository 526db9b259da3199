import { z } from 'zod';

const sequence = z.int().min(0);
const hash = z.string().nullable().optional();

/** The schema of the result of a verification of the audit log, in both majors. @see Interface: GET /v1/audit/verify */
export const auditVerification: z.ZodType = z
  .strictObject({
    fromSeq: sequence,
    toSeq: sequence,
    chainValid: z.boolean().describe('False exactly when `anomalies` is not empty.'),
    checkpointsValid: z.boolean(),
    checkpoints: z.array(
      z.strictObject({
        checkpoint: z.string().min(1).max(256),
        atSequence: sequence,
        merkleRoot: z.string().regex(/^[0-9a-f]{64}$/),
        signature: z.string(),
      }),
    ),
    anomalies: z.array(
      z.strictObject({
        kind: z.enum(['chain-break', 'hash-mismatch', 'missing-entry', 'merkle-mismatch', 'signature-invalid']),
        atSeq: sequence,
        expectedPrevHash: hash,
        actualPrevHash: hash,
        checkpoint: z.string().optional(),
        detail: z.string().optional().describe('What is missing or differs from the expected head.'),
      }),
    ),
  })
  .meta({ id: 'AuditVerification' });
