import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from './read-config.ts';

let folder: string;
const at = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-config-'));
  mkdirSync(at('folder'));
  writeFileSync(at('empty.pem'), '');
  writeFileSync(at('bad.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(at('ec.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(at('keys.json'), '{"keys":[]}');
  writeFileSync(at('text.db'), 'not a database, but long enough for one');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function problemsOf(config: object): Promise<readonly string[]> {
  writeFileSync(at('config.json'), JSON.stringify({ store: `sqlite:${at('svc.db')}`, ...config }));
  const read = await readConfig(at('config.json'));
  return read.ok ? [] : read.problems;
}

const introspection = (files: object) => {
  const idp = 'https://idp.example.com';
  return { introspection: { issuer: idp, endpoint: `${idp}/introspect`, audience: 'svc', clientId: 'svc', ...files } };
};
const oidc = (jwksFile: string) => ({
  oidc: { issuers: [{ issuer: 'https://idp.example.com', audience: 'svc', jwksFile }] },
});

const KEY_32 = Buffer.alloc(32, 7).toString('base64');

test.each<[string, () => object, (path: typeof at) => string]>([
  [
    'a missing file of certificates',
    () => ({ egress: { caFile: at('none.pem') } }),
    (path) =>
      `egress.caFile: ${path('none.pem')} is not there. Check the path: it is relative to the working directory.`,
  ],
  [
    'a folder in place of a file',
    () => ({ egress: { caFile: at('folder') } }),
    (path) => `egress.caFile: ${path('folder')} is a folder. Give the path of a file.`,
  ],
  [
    'a file of certificates without one',
    () => ({ egress: { caFile: at('empty.pem') } }),
    () => 'egress.caFile: the file has no certificate. Give one with certificates in PEM.',
  ],
  [
    'a malformed certificate',
    () => ({ egress: { caFile: at('bad.pem') } }),
    () => 'egress.caFile: certificate 1 of the file is malformed. Copy it again.',
  ],
  [
    'a signing key of another kind',
    () => ({ audit: { signingKeyFile: at('ec.pem') } }),
    () => 'audit.signingKeyFile: the key is not Ed25519. Generate one with `openssl genpkey -algorithm ed25519`.',
  ],
  [
    'an empty file of a client secret',
    () => introspection({ clientSecretFile: at('empty.pem') }),
    () => 'introspection.clientSecretFile: the file is empty. Write the secret that the issuer gave you into it.',
  ],
  [
    'a file of a client key without one',
    () => introspection({ privateKeyFile: at('bad.pem') }),
    () =>
      'introspection.privateKeyFile: the file has no private key in PEM. Generate one with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.',
  ],
  [
    'a key set without keys',
    () => oidc(at('keys.json')),
    () => 'oidc.issuers[0].jwksFile: the file has no keys. Give a JSON Web Key Set, {"keys": […]}.',
  ],
  [
    'a database that is a folder',
    () => ({ store: `sqlite:${at('folder')}` }),
    (path) => `store: ${path('folder')} is a folder. Give the path of the database file.`,
  ],
  [
    'a database in a folder that is not there',
    () => ({ store: `sqlite:${at('none/svc.db')}` }),
    (path) => `store: ${path('none')} is not a folder. Create it, or correct the path.`,
  ],
  [
    'a file of checkpoints in a folder that is not there',
    () => ({
      store: 'postgres://localhost/svc',
      secretKey: KEY_32,
      audit: { checkpointFile: at('none/copies.jsonl') },
    }),
    (path) => `audit.checkpointFile: ${path('none')} is not a folder. Create it, or correct the path.`,
  ],
  [
    'a file of checkpoints that is a folder',
    () => ({ store: 'postgres://localhost/svc', secretKey: KEY_32, audit: { checkpointFile: at('folder') } }),
    (path) => `audit.checkpointFile: ${path('folder')} is a folder. Give the path of a file.`,
  ],
  [
    'a database in a file of another kind',
    () => ({ store: `sqlite:${at('text.db')}` }),
    (path) => `store: ${path('text.db')} is not an SQLite database. Correct the path, or move the file away.`,
  ],
  [
    'a PostgreSQL location that is no URL',
    () => ({ store: 'postgres://user:a b@[host/svc', secretKey: Buffer.alloc(32).toString('base64') }),
    () => 'store: is not a URL. Encode special characters of the password, such as %40 for @.',
  ],
  [
    'a host to listen on that does not resolve',
    () => ({ listen: { host: 'no-such-host.invalid' } }),
    () => 'listen.host: does not resolve. Give an address of this machine, such as 127.0.0.1 or 0.0.0.0.',
  ],
  [
    'an address of another machine to listen on',
    () => ({ listen: { host: '192.0.2.1' } }),
    () => 'listen.host: is no address of this machine. Give one, such as 127.0.0.1 or 0.0.0.0.',
  ],
])('a configuration with %s is rejected', async (_configuration, config, problem) => {
  expect(await problemsOf(config())).toEqual([problem(at)]);
});

test('a configuration whose surroundings are right is accepted', async () => {
  expect(await problemsOf({})).toEqual([]);
});

test('a configuration that is a folder or missing is rejected', async () => {
  for (const file of [at('folder'), at('none.json')]) {
    expect(await readConfig(file)).toEqual({
      ok: false,
      problems: [`${file}: cannot be read. Check the path and its permissions.`],
    });
  }
});
