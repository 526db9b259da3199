import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { interruptTokens, type TokenClaims } from '../../src/interrupts/token.ts';

const KEY = new Uint8Array(32).fill(1);
const OTHER = new Uint8Array(32).fill(2);
const subject = { issuer: 'urn:svc:api-key', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' } as const;
const CLAIMS: TokenClaims = {
  ...{ tenant: 'acme', mode: 'live', runId: 'run_1', nodeId: 'gate', interruptId: 'int_1', intent: 'resolve' },
  expiresAt: 1_900_000_000_000,
  approver: { principal: 'p_1', subject },
};

describe.each([1, 2] as const)(`${covers('interrupts.token.forms')} A token of major %s`, (form) => {
  const tokens = interruptTokens([KEY]);
  const token = tokens.mint(CLAIMS, form);

  test('returns the claims that it was minted from', () => {
    expect(tokens.verify(token)).toEqual(CLAIMS);
    expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
  });

  test('is rejected by a host with another key, and accepted after a change of the key', () => {
    expect(interruptTokens([OTHER]).verify(token)).toBeUndefined();
    expect(interruptTokens([OTHER, KEY]).verify(token)).toEqual(CLAIMS);
  });

  test('is rejected with any character changed, removed or added', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('', 'A', 'b', '.', '-', 'AA'), (at, put) => {
        const changed = token.slice(0, at) + put + token.slice(at + 1);
        if (changed === token) return;
        // The last character of base64url has unused bits, but a MAC is compared as text.
        expect(tokens.verify(changed)).toBeUndefined();
      }),
    );
  });

  test('is rejected in the syntax of the other form', () => {
    const [payload = '', mac = ''] = token.split('.').slice(-2);
    const [, , kid] = tokens.mint(CLAIMS, 2).split('.');
    expect(tokens.verify(form === 1 ? `sv2.hs256.${kid}.${payload}.${mac}` : `${payload}.${mac}`)).toBeUndefined();
  });
});

test('rejects any other text without an exception', () => {
  const tokens = interruptTokens([KEY]);
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect([tokens.verify(text), tokens.verify(`sv2.${text}`)]).toEqual([undefined, undefined]);
    }),
  );
  expect(tokens.verify('a'.repeat(1_000_000))).toBeUndefined();
});
