import { z } from 'zod';
import { invalid } from '../errors.ts';
import { fieldProblems } from '../field-problems.ts';
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
    throw new TypeError(
      'interrupt: a schema of its answers must be a JSON Schema that can validate answers. See `cause`.',
      { cause },
    );
  }
}

/**
 * Holds an answer, or a member of one, to a schema.
 *
 * @param field the path of the value in the request
 * @throws {HostError} `validation_error` naming up to 10 members that do not match the schema, and the number of the others
 */
export function requireFitting(schema: JsonObject, value: Json | undefined, field = 'resumeValue'): void {
  const judge = schemaOf(schema);
  const result = judge.safeParse(value);
  if (result.success) return;
  const [first = { field, problem: 'must match its schema' }, ...others] = fieldProblems(judge, value, result.error, {
    root: field,
  });
  throw invalid(first, ...others);
}
