import { Validator } from '@cfworker/json-schema';
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

/**
 * Compiles a JSON Schema with a validator of another make, which shares no code with the others.
 *
 * @returns a function that returns whether a value is valid
 * @example
 * expect(otherValidator(schema)(body)).toBe(true);
 */
export function otherValidator(schema: object): (value: unknown) => boolean {
  const validate = new Validator(schema, '2020-12');
  return (value) => validate.validate(value).valid;
}

function sentencesOf(errors: readonly ErrorObject[] | null | undefined): readonly string[] {
  return (errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath || 'the value'} ${message} ${JSON.stringify(params)}`;
  });
}
