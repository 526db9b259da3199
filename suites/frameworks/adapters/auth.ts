import { authenticator } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';

/** The keys of the tests, by what they may do. */
export const KEYS = {
  reader: 'reader-key-of-this-test-0123456789',
  writer: 'writer-key-of-this-test-0123456789',
  slow: 'slow-key-of-this-test-0123456789abc',
};

/** The public key of RFC 8037, appendix A.2. */
const PUBLIC_KEY = { kty: 'OKP', crv: 'Ed25519', kid: '1', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };

/** An authenticator with a lane for keys and one for tokens. */
export function makeAuth() {
  const record = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
  const keys = memoryKeyStore([
    { ...record, id: 'key_r', hash: hashApiKey(KEYS.reader), principal: 'p_r', scopes: ['runs:read'] },
    { ...record, id: 'key_w', hash: hashApiKey(KEYS.writer), principal: 'p_w', scopes: ['runs:create'] },
    {
      ...record,
      id: 'key_s',
      hash: hashApiKey(KEYS.slow),
      principal: 'p_s',
      scopes: ['runs:read'],
      rateLimit: { limit: 2, windowSeconds: 86_400 },
    },
  ]);
  const tokens = bearerLane({
    issuers: [
      {
        issuer: 'https://idp.example',
        audience: 'https://svc.example',
        profile: 'user',
        keys: localKeys({ keys: [PUBLIC_KEY] }),
        claims: { tenant: 'org', workspaces: 'workspaces', scopes: 'scope' },
      },
    ],
  });
  return authenticator({ lanes: [tokens, apiKeyLane({ keys })] });
}
