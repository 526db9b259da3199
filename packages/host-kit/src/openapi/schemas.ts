import type { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { jsonSchemaOf } from '../json-schema.ts';

/** The named schemas of one API description. */
export interface Schemas {
  /**
   * Returns the JSON Schema of a zod schema's input. A schema with a name is collected, and a reference to it returned.
   */
  of(schema: z.ZodType): JsonObject;
  /**
   * Collects the definitions of a JSON Schema under `<name>.<definition>`, and returns the schema with references to
   * them.
   */
  adopted(name: string, schema: JsonObject): JsonObject;
  /** Returns the collected schemas by name. */
  components(): JsonObject;
}

/**
 * Creates a collection of schemas. The name of a schema is the `id` of its metadata.
 *
 * @throws {TypeError} from `of`, when two different schemas have the same name, or a recursive schema has none
 */
export function schemas(): Schemas {
  const named = new Map<string, Definition>();

  function keep(name: string, definition: Definition): void {
    if (name.startsWith('__'))
      throw new TypeError('API description: a recursive schema has no name. Add .meta({ id }) to it.');
    const known = named.get(name);
    if (known !== undefined && known.text !== definition.text) {
      throw new TypeError(`API description: two different schemas are named ${name}. Change the id of one of them.`);
    }
    named.set(name, definition);
  }

  return {
    of(schema) {
      const { own, definitions } = convertedOnce(schema);
      for (const [name, definition] of definitions) keep(name, definition);
      return own;
    },
    adopted(name, { $id: _id, $schema: _schema, $defs = {}, ...own }) {
      const prefix = `${name}.`;
      for (const [of, definition] of Object.entries($defs ?? {})) keep(prefix + of, referring(definition, prefix));
      return referring(own, prefix).schema;
    },
    components: () =>
      Object.fromEntries(
        [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
      ),
  };
}

/** A schema in the form of OpenAPI, and its JSON. */
interface Definition {
  readonly schema: JsonObject;
  readonly text: string;
}

interface Converted {
  readonly own: JsonObject;
  readonly definitions: readonly (readonly [name: string, definition: Definition])[];
}

/** Most schemas are constants, which each of several hosts in a process describes in each major. */
const CONVERTED = new WeakMap<z.ZodType, Converted>();

function convertedOnce(schema: z.ZodType): Converted {
  const known = CONVERTED.get(schema) ?? converted(schema);
  CONVERTED.set(schema, known);
  return known;
}

function converted(schema: z.ZodType): Converted {
  const { $schema: _, $defs = {}, ...own } = jsonSchemaOf(schema);
  const definitions = Object.entries($defs).map(([name, definition]) => [name, referring(definition)] as const);
  return { own: referring(own).schema, definitions };
}

/** Moves references from `$defs`, the place of definitions in JSON Schema, to that of OpenAPI. */
function referring(schema: unknown, prefix = ''): Definition {
  const text = JSON.stringify(schema, (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', `#/components/schemas/${prefix}`) : value,
  );
  return { schema: JSON.parse(text), text };
}
