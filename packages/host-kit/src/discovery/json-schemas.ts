import { jsonSchemaOf } from '../json-schema.ts';
import { DISCOVERY_V1 } from './schema-v1.ts';
import { DISCOVERY_V2 } from './schema-v2.ts';

/**
 * The JSON Schema of each major's document, for validators in any language. The `$id` of major 1 never changes; those
 * of major 2 begin with `/spec/v2/`.
 */
export const DISCOVERY_JSON_SCHEMAS: Readonly<Record<1 | 2, object>> = {
  get 1() {
    return published(1);
  },
  get 2() {
    return published(2);
  },
};

/** Made when it is read: a start that converts both schemas takes a tenth of a second longer. */
function published(major: 1 | 2): object {
  const known = made.get(major);
  if (known !== undefined) return known;
  const $id = `https://svc.example/spec/v${major}/discovery.schema.json`;
  const schema = { $id, ...jsonSchemaOf(major === 1 ? DISCOVERY_V1 : DISCOVERY_V2) };
  made.set(major, schema);
  return schema;
}

const made = new Map<1 | 2, object>();
