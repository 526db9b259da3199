import { DISCOVERY_JSON_SCHEMAS } from '../discovery/json-schemas.ts';
import { representation } from '../http/representation.ts';
import type { Reply } from '../http/route.ts';
import { DELIVERY_JSON_SCHEMAS } from '../wire/delivery-schema.ts';
import type { Mount } from './mount.ts';

/** The published JSON Schemas by their path below the mount, which is also their path in the package. */
export const PUBLISHED_SCHEMAS: ReadonlyMap<string, () => object> = new Map([
  ['v1/discovery.schema.json', () => DISCOVERY_JSON_SCHEMAS[1]],
  ['v1/webhook-delivery.schema.json', () => DELIVERY_JSON_SCHEMAS[1]],
  ['v2/discovery.schema.json', () => DISCOVERY_JSON_SCHEMAS[2]],
  ['v2/webhook-delivery.schema.json', () => DELIVERY_JSON_SCHEMAS[2]],
]);

/** Makes the mount that serves the published schemas to every caller. @see Interface: Releases and schemas, 2 */
export function schemaMount(): Mount {
  const documents = [...PUBLISHED_SCHEMAS].map(([path, schema]): [string, () => Reply] => {
    let made: Reply | undefined;
    return [`/schemas/${path}`, () => (made ??= schemaReply(schema()))];
  });
  return { name: 'schemas', path: '/schemas', routes: [], documents: new Map(documents) };
}

function schemaReply(schema: object): Reply {
  const { bytes, etag } = representation(schema);
  const headers = { etag, 'cache-control': 'public, max-age=300', 'content-type': 'application/schema+json' };
  return { status: 200, headers, body: bytes };
}
