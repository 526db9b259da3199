import { z } from 'zod';
import { jsonValue } from './schemas.ts';

/** A workflow as its engine tells it: beside the id, everything is the engine's own. */
export const workflowDefinition: z.ZodType = z
  .looseObject({
    workflowId: z.string(),
    configurableSchema: jsonValue
      .optional()
      .describe('The JSON Schema of what `configurable` may hold, where it is declared.'),
  })
  .meta({ id: 'WorkflowDefinition' });
