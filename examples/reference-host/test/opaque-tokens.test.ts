import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { covers } from '@svc/tools/covers';
import { type IdentityProvider, OPAQUE_RESOURCE, READERS, startIdentityProvider } from '@svc/tools/identity-provider';
import { exportJWK, generateKeyPair, importSPKI } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { scratch } from './booted-host.ts';

const folder = scratch();
let provider: IdentityProvider;
let host: AcmeHost;

beforeAll(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const reader = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = reader.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const readerKey = { ...(await exportJWK(await importSPKI(spki, 'ES256'))), kid: 'reader', alg: 'ES256', use: 'sig' };
  provider = await startIdentityProvider({
    keys: [{ ...(await exportJWK(privateKey)), kid: 'idp', alg: 'ES256', use: 'sig' }],
    readerKey,
  });
  const privateKeyFile = folder.path('reader.pem');
  writeFileSync(privateKeyFile, reader.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  host = await startAcme(
    {},
    {
      introspection: {
        ...{ issuer: provider.issuer, endpoint: `${provider.issuer}/token/introspection`, audience: OPAQUE_RESOURCE },
        ...{ clientId: READERS.key, privateKeyFile, keyId: 'reader', pseudonymous: true, maxAgeSeconds: 0 },
      },
    },
  );
});
afterAll(async () => {
  await host.stop();
  await provider.stop();
  folder.remove();
});

describe(covers('auth.bearer.validated-first', 'auth.bearer.no-isolation-bypass'), () => {
  const list = (token: unknown) =>
    fetch(`${host.url()}/v1/runs/none`, { headers: { authorization: `Bearer ${token}` } });

  test('an opaque token is accepted while its issuer says that it is active, and reaches its tenant alone', async () => {
    const { access_token: token } = await provider.clientToken({ resource: OPAQUE_RESOURCE });
    expect((await list(token)).status).toBe(404);
    await provider.revoke(String(token));
    const refused = await list(token);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer .*error="invalid_token"/),
    ]);
  });

  test('discovery and the metadata of the host name the issuer', async () => {
    const { issuer } = provider;
    for (const major of ['1', '2']) {
      const { body } = await host.call('/.well-known/svc', { major });
      expect(body.extensions['example.authentication']).toMatchObject({
        introspection: { issuer, audience: OPAQUE_RESOURCE, profiles: ['user', 'client'], maxAgeSeconds: 0 },
      });
      if (major === '2')
        expect(body.auth.lanes.slice(1)).toEqual(
          ['oidc', 'oauth2'].map((lane) => ({
            ...{ lane, issuers: [issuer], revocation: 'exp-and-recheck', revocationWindowSeconds: 1 },
            minimumAssurance: 'bearer',
          })),
        );
    }
    const { body } = await host.call('/.well-known/oauth-protected-resource');
    expect(body.authorization_servers).toEqual([issuer]);
  });

  test('a key of the host keeps working, and is not sent to the issuer', async () => {
    expect((await list(KEY)).status).toBe(404);
  });

  test('while the issuer is down, a token gets 503 and a key does not', async () => {
    const { access_token: token } = await provider.clientToken({ resource: OPAQUE_RESOURCE });
    await provider.stop();
    const refused = await list(token);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await list(KEY)).status).toBe(404);
  });
});
