import { anonymousActor, authenticator, guard, protectedResourceMetadata, roleAuthorizer, stepUp } from '@svc/auth';
import {
  apiKeyLane,
  apiKeys,
  memoryKeyStore,
  mintApiKey,
  quotaLedger,
  rotateApiKey,
  trackLastUsed,
} from '@svc/auth/api-key';
import { subjectHashes } from '@svc/auth/audit';
import { bearerLane, remoteKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { postgresReplayStore } from '@svc/auth/dpop/postgres';
import { sqliteReplayStore } from '@svc/auth/dpop/sqlite';
import { guard as expressGuard } from '@svc/auth/express';
import { guard as fastifyGuard } from '@svc/auth/fastify';
import { guard as fetchGuard } from '@svc/auth/fetch';
import { guard as honoGuard } from '@svc/auth/hono';
import { clientSecretBasic, introspectionLane, privateKeyJwt } from '@svc/auth/introspection';
import { logoutReceiver } from '@svc/auth/logout';
import { clientCertificates } from '@svc/auth/mtls';
import { guard as nodeGuard } from '@svc/auth/node';
import { clientAddress, flexibleRateLimiter, memoryRateLimiter } from '@svc/auth/rate-limit';
import { postgresRateLimiter } from '@svc/auth/rate-limit/postgres';
import { cloudSubject, jwtSvid, oauthClient, tokenExchange, workloadLane } from '@svc/auth/workload';
import { mtlsSan, x509Svid } from '@svc/auth/workload/x509';
import { expect, test } from 'vitest';

/** Functions as JavaScript calls them: with any object. */
const functions: Readonly<Record<string, (options: never) => unknown>> = {
  anonymousActor,
  apiKeyLane,
  apiKeys: (options) => apiKeys({ ['k'.repeat(32)]: { tenant: 'acme', scopes: [] } }, options),
  authenticator,
  bearerLane,
  clientAddress,
  clientCertificates,
  clientSecretBasic,
  privateKeyJwt,
  cloudSubject,
  dpopVerifier,
  expressGuard,
  fastifyGuard,
  flexibleRateLimiter: (options) => flexibleRateLimiter({} as never, options),
  guard,
  introspectionLane,
  logoutReceiver,
  fetchGuard: (options) => fetchGuard(options, () => new Response()),
  honoGuard,
  jwtSvid,
  memoryRateLimiter,
  memoryReplayStore,
  mintApiKey,
  mtlsSan,
  nodeGuard,
  oauthClient,
  postgresRateLimiter,
  protectedResourceMetadata,
  remoteKeys,
  roleAuthorizer,
  rotateApiKey: (options) => rotateApiKey({} as never, options),
  statelessNonces,
  subjectHashes,
  stepUp,
  tokenExchange,
  trackLastUsed,
  workloadLane,
  x509Svid,
};

test.each(Object.entries(functions))('%s rejects an unknown option', async (owner, call) => {
  const options = { anUnknownOption: 1 } as never;
  await expect(async () => call(options)).rejects.toThrow(TypeError);
  await expect(async () => call(options)).rejects.toThrow(
    new RegExp(`^${owner.endsWith('Guard') ? 'guard' : owner}: unknown option anUnknownOption\\. Its options are \\w+`),
  );
});

test('the lanes reject unknown options inside of their options', () => {
  const issuer = {
    issuer: 'https://idp.example',
    audience: 'a',
    profile: 'client',
    jwksUri: 'https://idp.example/keys',
    ...{ senderConstraint: true },
  } as const;
  expect(() => bearerLane({ issuers: [issuer] })).toThrow(
    'bearerLane: issuers[0]: unknown option senderConstraint. Did you mean senderConstrained?',
  );
  const delegation = { maxChainDepth: 1, issuers: [], audience: 'a', ...{ algorithm: [] } };
  const resolve = () => undefined;
  expect(() => workloadLane({ schemes: [], audience: 'a', resolve, delegation })).toThrow(
    'workloadLane: delegation: unknown option algorithm. Did you mean algorithms?',
  );
  const refusals = {
    limiter: memoryRateLimiter({ limit: 1, windowSeconds: 1 }),
    clientOf: clientAddress(),
    ...{ clientsOf: 1 },
  };
  const lane = apiKeyLane({ keys: memoryKeyStore([]) });
  expect(() => authenticator({ lanes: [lane], refusals })).toThrow(
    'authenticator: refusals: unknown option clientsOf. Did you mean clientOf?',
  );
  const limited = (verifications: { perSecond: number }) => () =>
    authenticator({
      lanes: [lane],
      refusals: { limiter: refusals.limiter, clientOf: refusals.clientOf, verifications },
    });
  expect(limited({ perSecond: 1, ...{ persecond: 2 } })).toThrow(
    'authenticator: refusals.verifications: unknown option persecond. Did you mean perSecond?',
  );
  for (const perSecond of [0, -1, 1.5, Number.NaN])
    expect(limited({ perSecond })).toThrow('refusals.verifications.perSecond must be a whole number, at least 1');
});

test('a guard names the option that was meant', () => {
  const auth = { authenticate: () => Promise.reject(new Error('not called')), only: () => auth };
  expect(() => guard({ authenticator: auth, ...{ scopes: ['runs:read'] } })).toThrow(
    'guard: unknown option scopes. Did you mean scope?',
  );
});

const keys = { find: () => undefined };
const issuer = 'https://idp.example';
const replays = memoryReplayStore();
const newId = () => 'jti';
const signer = { key: {} as CryptoKey, keyId: 'k1', algorithm: 'ES256', newId } as const;
const fetch = () => Promise.reject(new Error('nothing is fetched'));
const client = clientSecretBasic({ clientId: 'svc', clientSecret: 'of-a-test' });
const audience = 'svc';
const scheme = () => jwtSvid({ trustDomains: [{ name: 'acme.example', keys }] });

/** Every function that judges by the time of the day, with all that it needs but a clock. */
const judges: Readonly<Record<string, (clock: { readonly now?: () => number }) => unknown>> = {
  apiKeyLane: (clock) => apiKeyLane({ keys: memoryKeyStore([]), ...clock }),
  apiKeys: (clock) => apiKeys({ ['k'.repeat(32)]: { tenant: 'acme', scopes: [] } }, clock),
  bearerLane: (clock) => bearerLane({ issuers: [{ issuer, audience, profile: 'user', keys }], ...clock }),
  dpopVerifier: (clock) => dpopVerifier({ origin: issuer, replays, ...clock }),
  introspectionLane: (clock) =>
    introspectionLane({ issuer, endpoint: `${issuer}/introspect`, client, audience, fetch, ...clock }),
  jwtSvid: (clock) => jwtSvid({ trustDomains: [{ name: 'acme.example', keys }], ...clock }),
  logoutReceiver: (clock) => {
    const denyList = { deny: () => Promise.resolve() };
    return logoutReceiver({ issuers: [{ issuer, clientIds: ['a'], keys }], denyList, replays, ...clock });
  },
  memoryReplayStore,
  postgresReplayStore: (clock) => postgresReplayStore({ query: async () => ({ rows: [] }) }, clock),
  privateKeyJwt: (clock) => privateKeyJwt({ clientId: 'svc', ...signer, ...clock }),
  quotaLedger: (clock) => quotaLedger({ draw: async () => [], ...clock }),
  remoteKeys: (clock) => remoteKeys({ issuer, fetch, ...clock }),
  sqliteReplayStore: (clock) => sqliteReplayStore(':memory:', clock),
  statelessNonces: (clock) => statelessNonces({ secret: new Uint8Array(32), ...clock }),
  stepUp: (clock) => stepUp({ maxAgeSeconds: 60, ...clock }),
  tokenExchange: (clock) => tokenExchange({ issuer, ...signer, ...clock }),
  workloadLane: (clock) => workloadLane({ schemes: [scheme()], audience, resolve: () => undefined, ...clock }),
};

test.each(Object.entries(judges))('%s needs no clock, and rejects one that is no function', (owner, made) => {
  expect(made({})).toBeDefined();
  const message = `${owner}: now must be a function. Omit it, or pass Date.now.`;
  for (const now of [7, null, '2026-01-01']) expect(() => made({ now: now as never })).toThrow(new TypeError(message));
});

test.each(['cloud-subject', 'oauth-client'])('%s needs no clock, and rejects one that is no function', (name) => {
  const made = name === 'oauth-client' ? oauthClient : cloudSubject;
  expect(made({ issuers: [{ issuer, keys }] }).issuers).toEqual([issuer]);
  expect(() => made({ issuers: [{ issuer, keys }], now: 7 as never })).toThrow(`${name}: now must be a function.`);
});

test('without a clock, the time of the machine decides', () => {
  const rule = stepUp({ maxAgeSeconds: 60 });
  const judged = (at: number) => rule.judge({ binding: 'bearer', signIn: { at } }).allowed;
  expect(judged(Date.now())).toBe(true);
  expect(judged(Date.now() - 61_000)).toBe(false);
});

test('a list of lanes in place of options is no options', () => {
  expect(() => authenticator([scheme()] as never)).toThrow(
    new TypeError('authenticator: its options must be an object.'),
  );
});

test('what is no rate limiter is refused, and so is a client that is no function', () => {
  const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })] });
  const remedy = 'must be a rate limiter. Pass memoryRateLimiter({ limit, windowSeconds }).';
  for (const limiter of [{}, null, 100, { consume: () => ({}) }] as never[]) {
    expect(() => guard({ authenticator: auth, limiter })).toThrow(new TypeError(`guard: limiter ${remedy}`));
    const refusals = { limiter, clientOf: () => 'client' };
    const make = () => authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })], refusals });
    expect(make).toThrow(new TypeError(`authenticator: refusals.limiter ${remedy}`));
  }
  const refusals = { limiter: memoryRateLimiter({ limit: 1, windowSeconds: 1 }), clientOf: '10.0.0.1' as never };
  const make = () => authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })], refusals });
  expect(make).toThrow('authenticator: refusals.clientOf must be a function. Pass one such as clientAddress().');
});
