import { Ajv2020 } from 'ajv/dist/2020.js';

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
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      return `${instancePath || 'the value'} ${message} ${JSON.stringify(params)}`;
    });
  };
}
