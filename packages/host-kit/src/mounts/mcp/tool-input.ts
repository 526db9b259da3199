import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { fieldProblems } from '../../field-problems.ts';

/** Makes the schema of the arguments of a tool. A refusal tells each argument and its problem, in the words of this kit. */
export function toolInput<Shape extends z.ZodRawShape>(
  shape: Shape,
): StandardSchemaWithJSON<z.input<z.ZodObject<Shape, z.core.$strict>>, z.output<z.ZodObject<Shape, z.core.$strict>>> {
  const schema = z.strictObject(shape);
  const { '~standard': standard } = schema;
  return {
    '~standard': {
      ...standard,
      validate(value: unknown) {
        const result = schema.safeParse(value);
        if (result.success) return { value: result.data };
        const problems = fieldProblems(schema, value, result.error, { root: 'arguments' });
        return { issues: problems.map(({ field, problem }) => ({ message: `${field}: ${problem}` })) };
      },
    },
  };
}
