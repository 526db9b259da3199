import { z } from 'zod';
import { type FieldProblem, invalid } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';

/**
 * Makes a validator of a JSON Schema.
 *
 * @throws {TypeError} when it is not a JSON Schema that the kit supports
 */
export function schemaOf(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(JSON.parse(JSON.stringify(schema)));
  } catch (cause) {
    throw new TypeError('resumeSchema: must be a JSON Schema that can validate answers. See `cause`.', { cause });
  }
}

/** @throws {HostError} `validation_error` naming up to 10 members that do not match the schema */
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

const NO_FIT: FieldProblem = { field: 'resumeValue', problem: 'must match the resumeSchema' };
