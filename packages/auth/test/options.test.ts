import { anonymousActor, authenticator, guard, protectedResourceMetadata, roleAuthorizer, stepUp } from '@svc/auth';
import { apiKeyLane, memoryKeyStore, mintApiKey, rotateApiKey, trackLastUsed } from '@svc/auth/api-key';
import { subjectHashes } from '@svc/auth/audit';
import { bearerLane, remoteKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { expressGuard } from '@svc/auth/express';
import { fastifyGuard } from '@svc/auth/fastify';
import { guarded } from '@svc/auth/fetch';
import { honoGuard } from '@svc/auth/hono';
import { clientSecretBasic, introspectionLane, privateKeyJwt } from '@svc/auth/introspection';
import { logoutReceiver } from '@svc/auth/logout';
import { clientCertificates } from '@svc/auth/mtls';
import { nodeGuard } from '@svc/auth/node';
import { clientAddress, flexibleRateLimiter, memoryRateLimiter } from '@svc/auth/rate-limit';
import { postgresRateLimiter } from '@svc/auth/rate-limit/postgres';
import { cloudSubject, jwtSvid, oauthClient, tokenExchange, workloadLane } from '@svc/auth/workload';
import { mtlsSan, x509Svid } from '@svc/auth/workload/x509';
import { expect, test } from 'vitest';

/** Functions as JavaScript calls them: with any object. */
const functions: Readonly<Record<string, (options: never) => unknown>> = {
  anonymousActor,
  apiKeyLane,
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
  guarded: (options) => guarded(options, () => new Response()),
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
    new RegExp(`^${owner}: unknown option anUnknownOption\\. Its options are \\w+`),
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
  expect(() => bearerLane({ issuers: [issuer], now: Date.now })).toThrow(
    'bearerLane: issuers[0]: unknown option senderConstraint. Did you mean senderConstrained?',
  );
  const delegation = { maxChainDepth: 1, issuers: [], audience: 'a', ...{ algorithm: [] } };
  const resolve = () => undefined;
  expect(() => workloadLane({ schemes: [], audience: 'a', resolve, delegation, now: Date.now })).toThrow(
    'workloadLane: delegation: unknown option algorithm. Did you mean algorithms?',
  );
  const refusals = {
    limiter: memoryRateLimiter({ limit: 1, windowSeconds: 1 }),
    clientOf: clientAddress(),
    ...{ clientsOf: 1 },
  };
  const lane = apiKeyLane({ keys: memoryKeyStore([]), now: Date.now });
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
