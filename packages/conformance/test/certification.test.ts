import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicKeyOf, signedBytes } from '../src/certification/bundle.ts';
import { badgeReport, certificationBundle, type Report, verifyCertificationBundle } from '../src/index.ts';

const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const privateKey = newKey();
const KEYS = [
  { keyId: 'other', publicKey: publicKeyOf(newKey()) },
  { keyId: 'ours', publicKey: publicKeyOf(privateKey) },
];

const SHARE = { ran: 1, of: 1 };
const SOURCE = { ...SHARE, failed: 0, warned: 0 };
const REPORT: Report = {
  reportVersion: 1,
  suiteVersion: '2.0.0',
  url: 'http://127.0.0.1:1',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1500,
  host: { name: 'a "host"', version: undefined, protocolVersions: ['2.0'] },
  summary: { passed: 1, failed: 0, warned: 0, skipped: 0 },
  profiles: ['core'],
  missing: [],
  options: { keys: [], profilesOnly: false, workflows: {}, artifactWorkflow: false, receiver: false, durations: {} },
  coverage: {
    checks: SHARE,
    requirements: SHARE,
    areas: { discovery: SHARE },
    sources: { interface: SOURCE, ruling: SOURCE, fact: SOURCE, own: SOURCE },
  },
  results: [
    {
      id: 'discovery.public',
      area: 'discovery',
      name: 'It is public.',
      level: 'MUST',
      rule: { section: 'Discovery', source: 'fact' },
      major: 2,
      outcome: 'passed',
      durationMs: 3,
    },
  ],
};

const bundle = certificationBundle(REPORT, { privateKey, keyId: 'ours' });
const verified = (value: unknown, keys: Parameters<typeof verifyCertificationBundle>[1] = KEYS) =>
  verifyCertificationBundle(typeof value === 'string' ? value : JSON.stringify(value), keys);

/** Signs any content, as a signer would that does not use `certificationBundle`. */
function signed(content: object): object {
  const value = sign(null, signedBytes(content), privateKey).toString('base64url');
  return { ...content, signature: { alg: 'ed25519', keyId: 'ours', value } };
}

describe('a certification bundle', () => {
  test('is signed, says when it was made, and is verified in any spelling of its JSON', () => {
    expect(bundle).toMatchObject({
      bundleVersion: '3',
      kind: 'certification',
      createdAt: '2026-01-01T00:00:01.500Z',
      isConforming: true,
      signature: { alg: 'ed25519', keyId: 'ours' },
    });
    const { signature, ...rest } = bundle;
    const respelled = JSON.stringify(
      { signature, ...Object.fromEntries(Object.entries(rest).reverse()) },
      undefined,
      3,
    );
    expect(verified(respelled)).toMatchObject({ ok: true, bundle: { report: { profiles: ['core'] } } });
  });

  const failed: Report = {
    ...REPORT,
    summary: { ...REPORT.summary, passed: 0, failed: 1 },
    results: REPORT.results.map((result) => ({ ...result, outcome: 'failed' })),
  };
  test.each<[string, Report]>([
    ['a check failed', failed],
    ['the run looked at less than required', { ...REPORT, missing: [{ reason: 'no key' }] }],
    ['no profile was required', { ...REPORT, profiles: [] }],
    ['no check passed', { ...REPORT, summary: { ...REPORT.summary, passed: 0 }, results: [] }],
  ])('does not say that the host conforms when %s', (_why, report) => {
    const verdict = verified(certificationBundle(report, { privateKey, keyId: 'ours' }));
    expect(verdict).toMatchObject({ ok: true, bundle: { isConforming: false } });
  });

  test('is rejected after any change of its content', () => {
    const text = JSON.stringify(bundle);
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('0', '1', 'a', '"', ' ', '\\', '}', '\u0000'),
        (at, other) => {
          const changed = text.slice(0, at) + other + text.slice(at + 1);
          const verdict = verified(changed);
          if (!verdict.ok) return;
          // A blank outside of a text changes nothing that is signed.
          expect(JSON.parse(changed)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'not-a-bundle'],
    ['null', 'null', 'not-a-bundle'],
    ['JSON that nests too deep', `${'['.repeat(200_000)}`, 'not-a-bundle'],
    [
      'a nested member',
      JSON.stringify(bundle).replace('"workflows":{}', `"workflows":${'['.repeat(50_000)}${']'.repeat(50_000)}`),
      'signature-mismatch',
    ],
    ['a text that is too long', ' '.repeat(16_777_217), 'not-a-bundle'],
    ['another version', { ...bundle, bundleVersion: '2' }, 'not-a-bundle'],
    ['a number for the version', { ...bundle, bundleVersion: 3 }, 'not-a-bundle'],
    ['another algorithm', { ...bundle, signature: { ...bundle.signature, alg: 'none' } }, 'not-a-bundle'],
    ['no signature', { ...bundle, signature: undefined }, 'not-a-bundle'],
    ['an unknown member', { ...bundle, more: 1 }, 'not-a-bundle'],
    [
      'a prototype as a member',
      JSON.stringify(bundle).replace('"url"', '"__proto__":{"url":"x"},"url"'),
      'signature-mismatch',
    ],
    ['the id of another key', { ...bundle, signature: { ...bundle.signature, keyId: 'other' } }, 'signature-mismatch'],
    ['an unknown key', { ...bundle, signature: { ...bundle.signature, keyId: 'nobody' } }, 'unknown-key'],
    [
      'a signature without the first line',
      {
        ...bundle,
        signature: { ...bundle.signature, value: sign(null, signedBytes({}), privateKey).toString('base64url') },
      },
      'signature-mismatch',
    ],
  ])('with %s is rejected', (_what, value, fault) => {
    const verdict = verified(value);
    expect([verdict.ok, !verdict.ok && verdict.fault]).toEqual([
      false,
      // A stack that is too small for the nesting rejects it before the signature is looked at.
      _what === 'a nested member' ? expect.stringMatching(/^(not-a-bundle|signature-mismatch)$/) : fault,
    ]);
  });

  test.each<[string, object]>([
    [
      'says that a failing host conforms',
      { ...certificationBundle(failed, { privateKey, keyId: 'ours' }), isConforming: true },
    ],
    [
      'counts other results than it has',
      { ...bundle, report: { ...bundle.report, summary: { ...REPORT.summary, skipped: 7 } } },
    ],
    ['hides a failure in its counts', { ...bundle, report: { ...bundle.report, results: failed.results } }],
  ])('that %s is rejected, although a trusted key signed it', (_what, value) => {
    const { signature: _, ...content } = value as { signature: object };
    expect(verified(signed(content))).toEqual({ ok: false, fault: 'contradiction' });
  });

  test.each([
    ['2026-01-01T00:00:02.000Z', true],
    ['2026-01-01T00:00:01.500Z', false],
    ['2025-01-01T00:00:00.000Z', false],
    ['soon', false],
  ])('of a key that was retired at %s is accepted: %s', (retiredAt, ok) => {
    const keys = KEYS.map((key) => ({ ...key, retiredAt }));
    expect(verified(bundle, keys)).toMatchObject(ok ? { ok } : { ok, fault: 'retired-key' });
  });

  test.each([
    ['no PEM', 'secret-text-of-the-key', 'ours', /privateKey must be an Ed25519/],
    [
      'a key of another kind',
      generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'ours',
      /privateKey must be an Ed25519/,
    ],
    ['an id with a space', privateKey, 'o u', /keyId must be/],
    ['an empty id', privateKey, '', /keyId must be/],
  ])('is not made with %s', (_what, key, keyId, message) => {
    const make = () => certificationBundle(REPORT, { privateKey: key, keyId });
    expect(make).toThrow(message);
    expect(make).not.toThrow(/secret-text/);
  });
});

test.each<[string, Partial<Report>, RegExp]>([
  [
    'the profiles of a host that conforms',
    { profiles: ['core', 'runs'] },
    /svc conformance: core, runs, suite 2\.0\.0/,
  ],
  ['a failure', { summary: { ...REPORT.summary, failed: 1 } }, /: failing,/],
  ['a run that looked at too little', { missing: [{ reason: 'no key' }] }, /: incomplete,/],
  ['a run without a profile', { profiles: [] }, /: incomplete,/],
  ['a version from elsewhere', { suiteVersion: '"><script>' }, /suite script</],
])('a badge shows %s', (_what, changes, shown) => {
  const badge = badgeReport({ ...REPORT, ...changes });
  expect(badge).toMatch(shown);
  expect(badge).not.toContain('<script');
});
