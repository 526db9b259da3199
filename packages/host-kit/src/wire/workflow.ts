import { z } from 'zod';
import { jsonValue } from './schemas.ts';

/** The schema of a workflow. The engine defines every member except the id. */
export const workflowDefinition: z.ZodType = z
  .looseObject({
    workflowId: z.string(),
    configurableSchema: jsonValue
      .optional()
      .describe('The JSON Schema of `configurable` for this workflow. Absent when the engine declares none.'),
  })
  .meta({ id: 'WorkflowDefinition' });
