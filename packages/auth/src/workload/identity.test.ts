import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { delegationSchema, WORKLOAD_SCHEMES, workloadIdentitySchema } from './identity.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const delegation = {
  chain: [{ subject: 'agent', issuer: 'urn:x', scopes: ['runs:read'] }],
  audience: 'svc',
  expiresAt: '2026-06-01T00:00:00Z',
  proofRef: DIGEST,
};
const identity = {
  scheme: 'spiffe',
  subject: 'spiffe://acme.example/agent',
  issuer: 'spiffe://acme.example',
  audience: 'svc',
  keyBinding: { method: 'dpop', thumbprintRef: DIGEST },
  delegation,
};
const accepts = (value: unknown) => workloadIdentitySchema.safeParse(value).success;
const acceptsDelegation = (value: unknown) => delegationSchema.safeParse(value).success;

test('accepts the complete and the minimal record', () => {
  expect(workloadIdentitySchema.parse(identity)).toEqual(identity);
  expect(accepts({ scheme: 'mtls-san', subject: 'x' })).toBe(true);
  expect(acceptsDelegation({ chain: [{ subject: 'x' }], audience: 'svc' })).toBe(true);
});

describe(covers('auth.workload.object-closed', 'auth.delegation.object-closed'), () => {
  test.each([
    { ...identity, token: 'x' },
    { ...identity, keyBinding: { method: 'dpop', key: 'x' } },
    { ...identity, delegation: { ...delegation, proof: 'x' } },
    { ...identity, delegation: { ...delegation, chain: [{ subject: 'x', token: 'y' }] } },
  ])('rejects an unknown property (%#)', (value) => expect(accepts(value)).toBe(false));
});

describe(covers('auth.workload.scheme-values', 'auth.workload.strings-not-empty'), () => {
  test.each(WORKLOAD_SCHEMES)('accepts the scheme %s', (scheme) =>
    expect(accepts({ scheme, subject: 'x' })).toBe(true),
  );
  test.each([
    { ...identity, scheme: 'saml' },
    { ...identity, scheme: 'SPIFFE' },
    { ...identity, scheme: undefined },
    { ...identity, subject: '' },
    { ...identity, subject: undefined },
    { ...identity, issuer: '' },
    { ...identity, audience: '' },
    { ...identity, audience: ['svc'] },
  ])('%#', (value) => expect(accepts(value)).toBe(false));
});

describe(covers('auth.workload.key-binding-shape', 'auth.delegation.proof-ref-form'), () => {
  test.each([
    { method: 'tls' },
    {},
    { method: 'mtls', thumbprintRef: 'a'.repeat(64) },
    { method: 'mtls', thumbprintRef: `sha256:${'A'.repeat(64)}` },
    { method: 'mtls', thumbprintRef: `sha256:${'a'.repeat(63)}` },
    { method: 'mtls', thumbprintRef: `${DIGEST}\n` },
    { method: 'dpop', jwk: { kty: 'EC' } },
  ])('rejects the keyBinding %j', (keyBinding) => expect(accepts({ ...identity, keyBinding })).toBe(false));
  test.each(['x', DIGEST.toUpperCase(), `${DIGEST}0`, `sha512:${'a'.repeat(64)}`])(
    'rejects the proofRef %s',
    (proofRef) => expect(acceptsDelegation({ ...delegation, proofRef })).toBe(false),
  );
});

describe(covers('auth.delegation.required-fields', 'auth.delegation.hop-shape'), () => {
  test.each([
    { ...delegation, chain: [] },
    { ...delegation, chain: undefined },
    { ...delegation, audience: '' },
    { ...delegation, audience: undefined },
    { ...delegation, chain: [{ subject: '' }] },
    { ...delegation, chain: [{ issuer: 'x' }] },
    { ...delegation, chain: [{ subject: 'x', issuer: '' }] },
    { ...delegation, chain: [{ subject: 'x', scopes: ['a', 'a'] }] },
    { ...delegation, chain: [{ subject: 'x', scopes: [''] }] },
    { ...delegation, chain: [{ subject: 'x', scopes: 'a' }] },
  ])('%#', (value) => expect(acceptsDelegation(value)).toBe(false));
});

describe(covers('auth.delegation.expires-at-date-time'), () => {
  test.each(['2026-06-01T00:00:00Z', '2026-06-01T00:00:00.5+02:00', '2028-02-29T00:00:00Z'])('%s', (expiresAt) =>
    expect(acceptsDelegation({ ...delegation, expiresAt })).toBe(true),
  );
  test.each([
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2027-02-29T00:00:00Z',
    'tomorrow',
    '1',
    '',
    '2026-06-01',
    1780272000,
  ])('rejects the date-time %s', (expiresAt) => expect(acceptsDelegation({ ...delegation, expiresAt })).toBe(false));
});

describe(covers('auth.workload.subject-not-credential', 'auth.workload.no-raw-material'), () => {
  const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
  const MATERIAL = [
    JWT,
    `Bearer ${JWT}`,
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    'x -----BEGIN PRIVATE KEY-----',
    `MIIC${'A'.repeat(100)}`,
    `svc_live_${'0'.repeat(72)}`,
    'line\nbreak',
  ];
  const places: Record<string, (text: string) => unknown> = {
    subject: (subject) => ({ ...identity, subject }),
    issuer: (issuer) => ({ ...identity, issuer }),
    audience: (audience) => ({ ...identity, audience }),
    'delegation.audience': (audience) => ({ ...identity, delegation: { ...delegation, audience } }),
    'hop.subject': (subject) => ({ ...identity, delegation: { ...delegation, chain: [{ subject }] } }),
    'hop.issuer': (issuer) => ({ ...identity, delegation: { ...delegation, chain: [{ subject: 'x', issuer }] } }),
    'hop.scopes': (scope) => ({
      ...identity,
      delegation: { ...delegation, chain: [{ subject: 'x', scopes: [scope] }] },
    }),
  };
  const rows = Object.entries(places).flatMap(([place, put]) => MATERIAL.map((text) => [place, text, put] as const));
  test.each(rows)('rejects %s with the value %j', (_place, text, put) => {
    const result = workloadIdentitySchema.safeParse(put(text));
    expect(result.success).toBe(false);
    expect(JSON.stringify(result.error)).not.toContain(text.slice(0, 24));
  });
});
