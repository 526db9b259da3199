import { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * Holds values to a JSON Schema.
 *
 * @returns what is wrong with a value; empty when it is valid
 * @throws {Error} for what is no schema
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
