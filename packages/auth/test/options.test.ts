import { anonymousActor, authenticator, guard, protectedResourceMetadata, roleAuthorizer } from '@svc/auth';
import { apiKeyLane, mintApiKey, rotateApiKey, trackLastUsed } from '@svc/auth/api-key';
import { subjectHashes } from '@svc/auth/audit';
import { bearerLane, remoteKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, statelessNonces } from '@svc/auth/dpop';
import { expressGuard } from '@svc/auth/express';
import { fastifyGuard } from '@svc/auth/fastify';
import { guarded } from '@svc/auth/fetch';
import { honoGuard } from '@svc/auth/hono';
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
  cloudSubject,
  dpopVerifier,
  expressGuard,
  fastifyGuard,
  flexibleRateLimiter: (options) => flexibleRateLimiter({} as never, options),
  guard,
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

test('a guard names the option that was meant', () => {
  const auth = { authenticate: () => Promise.reject(new Error('not called')) };
  expect(() => guard({ authenticator: auth, ...{ scopes: ['runs:read'] } })).toThrow(
    'guard: unknown option scopes. Did you mean scope?',
  );
});
