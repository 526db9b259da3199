import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/**
 * Compiles a JSON Schema.
 *
 * @returns a function that returns one sentence for each problem of a value; none when it is valid
 * @throws {Error} when the schema is malformed
 * @example
 * expect(validator(schema)(body)).toEqual([]);
 */
export function validator(schema: object): (value: unknown) => readonly string[] {
  const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  return (value) => (validate(value) ? [] : sentencesOf(validate.errors));
}

/**
 * Compiles a JSON Schema as a consumer with strict settings does: an unknown keyword or format is an error, and formats
 * are checked.
 *
 * @throws {Error} when the schema is malformed, or uses a keyword or a format that is no standard
 * @example
 * expect(strictValidator(schema)(body)).toEqual([]);
 */
export function strictValidator(schema: object): (value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : sentencesOf(validate.errors));
}

function sentencesOf(errors: readonly ErrorObject[] | null | undefined): readonly string[] {
  return (errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath || 'the value'} ${message} ${JSON.stringify(params)}`;
  });
}
