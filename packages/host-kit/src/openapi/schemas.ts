import { z } from 'zod';
import type { JsonObject } from '../json.ts';

/** The named schemas of one API description, and what refers to them. */
export interface Schemas {
  /** The JSON Schema of what a zod schema takes: a reference where it has a name, and otherwise in place. */
  of(schema: z.ZodType): JsonObject;
  /** By name, all that was referred to. */
  components(): JsonObject;
}

/**
 * Collects schemas by the `id` of their metadata.
 *
 * @throws {TypeError} when two different schemas have one name, or a recursive one has none
 */
export function schemas(): Schemas {
  const named = new Map<string, JsonObject>();

  function keep(name: string, schema: JsonObject): void {
    if (name.startsWith('__')) throw new TypeError('A recursive schema needs a name: give it .meta({ id }).');
    const known = named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new TypeError(`Two different schemas of the API description are called ${name}.`);
    }
    named.set(name, schema);
  }

  return {
    of(schema) {
      const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io: 'input' });
      for (const [name, definition] of Object.entries($defs)) keep(name, referring(definition));
      return referring(own);
    },
    components: () => Object.fromEntries([...named].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** JSON Schema keeps its definitions in another place than OpenAPI. */
function referring(schema: unknown): JsonObject {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  );
}
