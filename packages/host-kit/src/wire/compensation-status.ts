import { z } from 'zod';

/** The schema of the status of a compensation. */
export const compensationState: z.ZodType = z
  .enum(['none', 'pending', 'running', 'completed', 'partial', 'failed', 'manual'])
  .meta({ id: 'CompensationStatus' });
