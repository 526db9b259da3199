import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { bootHost, descriptionsOf } from './booted-host.mjs';

let host;
let descriptions;

before(async () => {
  host = await bootHost();
  descriptions = await descriptionsOf(host.url);
});

after(() => host?.stop());

/** Makes a validator that refuses unknown keywords and unknown formats. */
function strict() {
  const ajv = new Ajv2020({ strict: true, strictTypes: false });
  addFormats.default(ajv);
  return ajv;
}

/** Loads a built module of the kit. */
function built(path) {
  return import(pathToFileURL(join(env.SVC_CHECKOUT, 'packages/host-kit/dist', path)).href);
}

test('the schemas of both discovery documents compile, and accept what the host serves', async () => {
  for (const major of [1, 2]) {
    const path = join(env.SVC_CHECKOUT, `packages/host-kit/schemas/v${major}/discovery.schema.json`);
    const validate = strict().compile(JSON.parse(readFileSync(path, 'utf8')));
    const headers = { 'svc-version': String(major) };
    const document = await (await fetch(`${host.url}/.well-known/svc`, { headers })).json();
    assert.ok(validate(document), JSON.stringify(validate.errors));
  }
});

test('the schema of a delivery compiles in both majors', async () => {
  const { DELIVERY_JSON_SCHEMAS } = await built('index.js');
  for (const major of [1, 2]) strict().compile(DELIVERY_JSON_SCHEMAS[major]);
});

test('the schema of the configuration of the reference host compiles', () => {
  const path = join(env.SVC_CHECKOUT, 'examples/reference-host/config.schema.json');
  const validate = strict().compile(JSON.parse(readFileSync(path, 'utf8')));
  assert.ok(validate({ secretKey: Buffer.alloc(32).toString('base64') }), JSON.stringify(validate.errors));
  assert.ok(!validate({ secretKey: 'short' }));
});

for (const name of ['v1', 'v2', 'host']) {
  test(`every schema of the API description ${name} compiles`, () => {
    const ajv = strict();
    // Keywords of the documents around the schemas, which are no JSON Schema.
    ajv.addKeyword('components').addKeyword('paths').addKeyword('openapi').addKeyword('info').addKeyword('servers');
    ajv.addKeyword('tags').addKeyword('webhooks');
    ajv.addSchema({ ...descriptions[name], $id: 'https://description.test/' });
    const places = schemasIn(descriptions[name], '#');
    assert.ok(places.length > 20);
    for (const place of places) ajv.compile({ $ref: `https://description.test/${place}` });
  });
}

/** The JSON pointers of all schemas of an OpenAPI document. */
function schemasIn(value, place) {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const path = `${place}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    if (name === 'schema') return [path];
    if (name === 'schemas') return Object.keys(member).map((each) => `${path}/${each}`);
    return schemasIn(member, path);
  });
}
