import { jsonSchemaOf } from '../json-schema.ts';
import { DISCOVERY_V1 } from './schema-v1.ts';
import { DISCOVERY_V2 } from './schema-v2.ts';

/**
 * The JSON Schema of each major's document, for validators in any language. The `$id` of major 1 never changes; those
 * of major 2 begin with `/spec/v2/`.
 */
export const DISCOVERY_JSON_SCHEMAS: Readonly<Record<1 | 2, object>> = {
  1: { $id: 'https://svc.example/spec/v1/discovery.schema.json', ...jsonSchemaOf(DISCOVERY_V1) },
  2: { $id: 'https://svc.example/spec/v2/discovery.schema.json', ...jsonSchemaOf(DISCOVERY_V2) },
};
