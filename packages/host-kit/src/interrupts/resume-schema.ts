import { z } from 'zod';
import { type FieldProblem, invalid } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';

/**
 * A JSON Schema as what judges by it.
 *
 * @throws {TypeError} for one that cannot be judged by
 */
export function schemaOf(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
  } catch (cause) {
    throw new TypeError('resumeSchema is no JSON Schema that answers can be judged by.', { cause });
  }
}

/** @throws {HostError} `validation_error` naming what does not fit */
export function requireFitting(schema: JsonObject, resumeValue: Json): void {
  const result = schemaOf(schema).safeParse(resumeValue);
  if (result.success) return;
  const [first = NO_FIT, ...others] = result.error.issues.slice(0, 10).map(
    ({ path, message }): FieldProblem => ({
      field: ['resumeValue', ...path.map(String)].join('.'),
      problem: message,
    }),
  );
  throw invalid(first, ...others);
}

const NO_FIT: FieldProblem = { field: 'resumeValue', problem: 'does not fit the resumeSchema' };
