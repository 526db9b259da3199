import type { Lane } from '@svc/auth';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, type KeySource, type TokenIssuer } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { clientSecretBasic, introspectionLane } from '@svc/auth/introspection';
import { cloudSubject, jwtSvid, workloadLane } from '@svc/auth/workload';
import { mtlsSan, x509Svid } from '@svc/auth/workload/x509';
import { issue } from '@svc/tools/certificates';
import { describe, expect, test } from 'vitest';
import { advertisedBy } from '../../src/discovery/authentication.ts';
import { documentV1 } from '../../src/discovery/document-v1.ts';
import { documentV2 } from '../../src/discovery/document-v2.ts';
import { facts } from './facts.ts';

describe('discovery of the credentials that the lanes accept', () => {
  const keys: KeySource = { find: () => undefined };
  const one = { issuer: 'https://one.example', audience: ['svc', 'svc-too'], keys, tenants: ['one'] };
  const two = { issuer: 'https://two.example', audience: 'svc-two', keys, tenants: ['two'] };
  const dpop = dpopVerifier({
    origin: 'https://svc.example',
    replays: memoryReplayStore({ now: Date.now }),
    algorithms: ['ES256'],
  });
  const apiKey = apiKeyLane({ keys: memoryKeyStore([]), issuer: 'urn:acme:keys' });
  const documentsOf = (...lanes: readonly Lane[]) => {
    const input = facts({}, { authentication: advertisedBy(lanes) });
    return { v1: documentV1(input).auth, v2: documentV2(input, '2.0').auth };
  };

  test('are those of the lanes, in both majors', () => {
    const tokens = bearerLane({
      issuers: [
        { ...one, profile: 'client', algorithms: ['EdDSA'], maxLifetimeSeconds: 60, senderConstrained: true },
        { ...two, profile: 'client', maxLifetimeSeconds: 90.5, senderConstrained: true },
        { ...one, profile: 'user' },
      ],
      dpop,
    });
    const { v1, v2 } = documentsOf(tokens, apiKey);
    expect(v1?.profiles).toEqual(['svc-auth-oidc-user-bearer', 'svc-auth-oauth2-client-credentials']);
    expect(v1?.oidc).toEqual({ issuers: ['https://one.example'], audience: 'svc' });
    expect(v1?.oauth2).toEqual({
      supported: true,
      issuer: 'https://one.example',
      audience: 'svc',
      issuerAudiences: [
        { issuer: 'https://one.example', audience: 'svc' },
        { issuer: 'https://two.example', audience: 'svc-two' },
      ],
      supportedAlgorithms: ['EdDSA'],
    });
    expect(v2).toMatchObject({
      lanes: [
        { lane: 'api-key', issuers: ['urn:acme:keys'], revocation: 'next-request', minimumAssurance: 'bearer' },
        {
          lane: 'oidc',
          issuers: ['https://one.example'],
          revocation: 'exp-only',
          revocationWindowSeconds: 86_400,
          minimumAssurance: 'bearer',
        },
        {
          lane: 'oauth2',
          issuers: ['https://one.example', 'https://two.example'],
          revocation: 'exp-only',
          revocationWindowSeconds: 91,
          minimumAssurance: 'sender-constrained',
        },
      ],
    });
  });

  test('name no API keys when no lane accepts them, and no end of tokens that may live for ever', () => {
    const forEver = { ...one, profile: 'user', maxLifetimeSeconds: Number.POSITIVE_INFINITY } as const;
    const { v2 } = documentsOf(bearerLane({ issuers: [forEver] }));
    expect(v2).toHaveProperty('lanes', [
      { lane: 'oidc', issuers: ['https://one.example'], revocation: 'exp-only', minimumAssurance: 'bearer' },
    ]);
  });

  test('have the schemes and the trust roots of workloads', async () => {
    const certificateOf = () => undefined;
    const { pem } = await issue('authority', { isAuthority: true });
    const authorities = [pem];
    const workloads = workloadLane({
      schemes: [
        jwtSvid({ trustDomains: [{ name: 'acme.example', keys }] }),
        x509Svid({ certificateOf, trustDomains: [{ name: 'acme.example', authorities }] }),
        mtlsSan({ certificateOf, authorities, issuer: 'urn:acme:machine-ca' }),
        cloudSubject({ issuers: [{ issuer: 'https://cloud.example', keys }] }),
      ],
      audience: 'https://svc.example',
      resolve: () => undefined,
      senderConstraint: ['mtls', 'dpop'],
      delegation: { maxChainDepth: 2, issuers: [{ issuer: 'https://one.example', keys }], audience: 'svc' },
      dpop,
    });
    const { v1, v2 } = documentsOf(workloads);
    expect(v1?.workloadIdentity).toEqual({
      supported: true,
      schemes: ['spiffe', 'mtls-san', 'cloud-subject'],
      senderConstraint: ['mtls', 'dpop'],
      delegation: { maxChainDepth: 2 },
      subjectMapping: 'The host binds each subject, by its issuer and its exact text, to a principal.',
    });
    expect(v2).toMatchObject({
      lanes: [
        {
          lane: 'workload',
          issuers: ['spiffe://acme.example', 'urn:acme:machine-ca', 'https://cloud.example'],
          revocation: 'delegation-expiry',
          minimumAssurance: 'key-bound',
          delegationProofs: ['mtls-key-binding', 'dpop', 'svid-chain'],
        },
      ],
    });
  });

  test.each([
    ['of people and machines', undefined, 30],
    ['of machines alone', ['client'], 1],
  ] as const)('have the profiles of opaque tokens, here %s', (_title, profiles, window) => {
    const opaque = introspectionLane({
      issuer: 'https://one.example',
      endpoint: 'https://one.example/introspect',
      client: clientSecretBasic({ clientId: 'svc', clientSecret: 'a-secret-of-this-client' }),
      fetch: async () => new Response(),
      audience: 'svc',
      ...(profiles !== undefined && { profiles, maxAgeSeconds: 0 }),
    });
    const { v1, v2 } = documentsOf(opaque);
    expect(v1?.profiles).toEqual([]);
    expect(v2).toMatchObject({
      lanes: (profiles ?? ['user', 'client']).map((profile) => ({
        lane: profile === 'user' ? 'oidc' : 'oauth2',
        issuers: ['https://one.example'],
        revocation: 'exp-and-recheck',
        revocationWindowSeconds: window,
        minimumAssurance: 'bearer',
      })),
    });
  });

  test('demand bound tokens when the lanes of people and machines do', () => {
    const bound = { ...one, profile: 'user', senderConstrained: true } as const;
    const free = { ...two, profile: 'client' } as const;
    const dpopOf = (...issuers: readonly TokenIssuer[]) => advertisedBy([bearerLane({ issuers, dpop }), apiKey]).dpop;
    expect(dpopOf(bound)).toEqual({ algorithms: ['ES256'], required: true });
    expect(dpopOf(bound, free)).toEqual({ algorithms: ['ES256'], required: false });
    expect(advertisedBy([bearerLane({ issuers: [free] }), apiKey]).dpop).toBeUndefined();
    const byCertificate = { ...bearerLane({ issuers: [{ ...two, ...bound }] }), name: 'by-certificate' };
    expect(advertisedBy([bearerLane({ issuers: [bound], dpop }), byCertificate]).dpop?.required).toBe(false);
  });

  test('have the profiles of client certificates and of rotated keys when the host declares them', () => {
    const mtls = { required: true, subjectMapping: 'The organization of the subject is the tenant.' };
    const { auth } = documentV1(facts({ authentication: { mtls, rotation: { minGraceSeconds: 86_400 } } }));
    expect(auth).toMatchObject({
      profiles: ['svc-auth-api-key-rotation', 'svc-auth-mtls'],
      mtls: { supported: true, ...mtls },
      rotation: { supported: true, minGraceSeconds: 86_400 },
    });
  });
});
