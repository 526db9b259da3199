import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

/** A real OpenID provider on this machine. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly port: number;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Gets the tokens of a client. Default resource: {@link RESOURCE}. */
  clientToken(options?: { resource?: string; scope?: string; dpop?: string }): Promise<Record<string, unknown>>;
  /** Signs a user in as a browser does. Returns the access token and the ID token. */
  userTokens(login: string, resource?: string): Promise<Record<string, unknown>>;
  /** Tells the provider that a token must not be used any more. @see RFC 7009 */
  revoke(token: string): Promise<void>;
  stop(): Promise<void>;
}

/** A resource whose access tokens are opaque texts. */
export const OPAQUE_RESOURCE = 'https://opaque.svc.example.com';

/** The clients that may introspect, by their way to authenticate. */
export const READERS = { basic: 'reader: basic', key: 'reader-key' } as const;

/** The secret of the readers that have one. A form encodes each of its special characters. */
export const READER_SECRET = 'a secret: with % and + in it, of this test';

/** The default resource of tokens. */
export const RESOURCE = 'https://svc.example.com';

/**
 * Starts a provider.
 *
 * @param options.keys private JWKs to sign with
 * @param options.readerKey the public JWK of the reader `key`
 * @param options.port the port of an earlier provider, to replace it. Default: a free port
 */
export async function startIdentityProvider(options: {
  keys: object[];
  port?: number;
  readerKey?: object;
}): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  server.on('request', new Provider(issuer, configurationOf(options.keys, options.readerKey)).callback());
  return {
    issuer,
    port,
    clientId: CLIENT,
    clientSecret: SECRET,
    clientToken: ({ resource = RESOURCE, scope = 'runs:read', dpop } = {}) => {
      const parameters = { grant_type: 'client_credentials', resource, scope };
      return token(issuer, CLIENT, parameters, dpop === undefined ? {} : { dpop });
    },
    userTokens: (login, resource = RESOURCE) => userTokens(issuer, login, resource),
    async revoke(text) {
      const response = await fetch(`${issuer}/token/revocation`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${CLIENT}:${SECRET}`).toString('base64')}` },
        body: new URLSearchParams({ token: text }),
      });
      if (response.status !== 200) throw new Error(`The provider returned ${response.status}.`);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const CLIENT = 'machine';
const APP = 'app';
const SECRET = 'a-secret-of-the-machine-in-this-test';
const REDIRECT_URI = 'https://app.example.com/callback';

const READER = { grant_types: [], redirect_uris: [], response_types: [] };

function configurationOf(keys: object[], readerKey: object | undefined): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT,
        client_secret: SECRET,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: APP,
        client_secret: SECRET,
        grant_types: ['authorization_code'],
        redirect_uris: [REDIRECT_URI],
        response_types: ['code'],
      },
      { ...READER, client_id: READERS.basic, client_secret: READER_SECRET },
      ...(readerKey === undefined
        ? []
        : [
            {
              ...READER,
              client_id: READERS.key,
              token_endpoint_auth_method: 'private_key_jwt' as const,
              token_endpoint_auth_signing_alg: 'ES256' as const,
              jwks: { keys: [readerKey] },
            },
          ]),
    ],
    jwks: { keys } as NonNullable<Configuration['jwks']>,
    cookies: { keys: ['only for this test'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256', introspection_signed_response_alg: 'ES256' },
    enabledJWA: {
      idTokenSigningAlgValues: ['ES256'],
      introspectionSigningAlgValues: ['ES256'],
      dPoPSigningAlgValues: ['ES256'],
    },
    ttl: { AccessToken: 3600, ClientCredentials: 3600, IdToken: 3600, Interaction: 60, Session: 60, Grant: 60 },
    features: {
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      jwtIntrospection: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => ({
          scope: 'runs:read runs:create',
          audience: resource,
          accessTokenFormat: resource === OPAQUE_RESOURCE ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    extraTokenClaims: () => ({ svc_tenant: 'acme', svc_workspaces: ['acme-prod'] }),
  };
}

async function token(
  issuer: string,
  clientId: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${SECRET}`).toString('base64')}`, ...headers },
    body: new URLSearchParams(parameters),
  });
  const body: Record<string, unknown> = await response.json();
  if (response.status !== 200) throw new Error(`The provider returned ${response.status}: ${JSON.stringify(body)}`);
  return body;
}

/** Runs the authorization code flow with PKCE. */
async function userTokens(issuer: string, login: string, resource: string): Promise<Record<string, unknown>> {
  const verifier = 'v'.repeat(43);
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(verifier));
  const query = new URLSearchParams({
    client_id: APP,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: 'openid runs:read',
    resource,
    nonce: 'n-1',
    code_challenge: Buffer.from(digest).toString('base64url'),
    code_challenge_method: 'S256',
  });
  const code = await signIn(`${issuer}/auth?${query}`, login, REDIRECT_URI);
  const parameters = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: verifier };
  return token(issuer, APP, { ...parameters, resource });
}

/** Follows redirects and submits the provider's own pages, with cookies, until the provider returns the code. */
async function signIn(start: string, login: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>();
  let request: { url: string; form?: URLSearchParams } = { url: start };
  for (let step = 0; step < 12; step++) {
    const { url, form } = request;
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location?.startsWith(redirectUri)) {
      const found = new URL(location).searchParams;
      const code = found.get('code');
      if (code === null) throw new Error(`The provider rejected the sign-in: ${found}`);
      return code;
    }
    if (location !== null) {
      request = { url: new URL(location, url).href };
    } else {
      const page = await response.text();
      const [, action] = /action="([^"]+)"/.exec(page) ?? [];
      const [, prompt] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
      if (action === undefined || prompt === undefined)
        throw new Error(`The provider returned a page without a form: ${page.slice(0, 500)}`);
      request = { url: new URL(action, url).href, form: new URLSearchParams({ prompt, login, password: 'any' }) };
    }
  }
  throw new Error('The provider returned no code within 12 steps.');
}
