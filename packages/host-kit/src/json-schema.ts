import { z } from 'zod';
import type { Json, JsonObject } from './json.ts';

/** The schema of any JSON value. */
export const jsonValue: z.ZodType<Json> = z
  .lazy(() =>
    z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(jsonValue), z.record(z.string(), jsonValue)]),
  )
  .meta({ id: 'Json', description: 'Any JSON value.' });

/** The schema of any JSON object. */
export const jsonObject: z.ZodType<JsonObject> = z
  .record(z.string(), jsonValue)
  .meta({ id: 'JsonObject', description: 'Any JSON object.' });

/**
 * Returns the JSON Schema (draft 2020-12) of the input of a zod schema, for publication. Any JSON value is the schema
 * `{}`: generators make a type of it, and fail at a recursive one. Formats that only zod knows are left out, because
 * validators reject formats that they do not know.
 */
export function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { io: 'input', override: publishable });
}

function publishable({ zodSchema, jsonSchema }: Parameters<Override>[0]): void {
  const { format } = jsonSchema;
  if (format !== undefined && !STANDARD_FORMATS.has(format)) delete jsonSchema.format;
  if (idOf(zodSchema) === 'Json') delete jsonSchema.anyOf;
  const { additionalProperties: members } = jsonSchema;
  if (typeof members !== 'object' || members.$ref !== '#/$defs/Json') return;
  jsonSchema.additionalProperties = true;
  delete jsonSchema.propertyNames;
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

function idOf(schema: z.core.$ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.id;
}

/** @see JSON Schema Validation 2020-12, section 7.3 */
const STANDARD_FORMATS: ReadonlySet<string> = new Set([
  ...['date-time', 'date', 'time', 'duration', 'email', 'idn-email', 'hostname', 'idn-hostname', 'ipv4', 'ipv6'],
  ...['uri', 'uri-reference', 'iri', 'iri-reference', 'uuid', 'uri-template', 'json-pointer', 'relative-json-pointer'],
  'regex',
]);
