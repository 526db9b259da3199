import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from '../../src/http/route.ts';
import type { SignatureAlgorithm } from '../../src/ports/subscriptions.ts';
import { registrationSchema, rotation } from '../../src/wire/webhook.ts';

const BOTH: readonly SignatureAlgorithm[] = ['v1', 'standard-webhooks-1'];
const schema = registrationSchema({ tenantIdOptional: false, signatureAlgorithms: BOTH });
const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;
const base = { url: 'https://hooks.example/', events: ['run.completed'] };

/** Which fields are refused; none when it is accepted. */
function refused(major: 1 | 2, changes: object, rules = schema): string[] {
  const body = { ...base, ...(major === 1 && { tenantId: 'acme-prod' }), ...changes };
  try {
    parse(rules[major], body);
    return [];
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'validation_error')) throw error;
    const { fields } = Object(Reflect.get(error, 'details'));
    return fields.map(({ field }: { field: string }) => field.replace(/\[\d+\]$/, ''));
  }
}

describe(covers('webhooks.signature.standard-opt-in'), () => {
  test('a registration that does not say is signed by v1', () => {
    expect(parse(schema[2], base).signatureAlgorithms).toEqual(['v1']);
    expect(parse(schema[1], { ...base, tenantId: 'acme-prod' }).signatureAlgorithms).toEqual(['v1']);
    expect(refused(2, { signatureAlgorithms: ['v1'] })).toEqual([]);
    expect(refused(1, { signatureAlgorithms: ['v1'] })).toEqual([]);
  });

  test('whatever list is asked for: accepted only with v1, without repeats, of what is served, and with a secret of the form', () => {
    const entries = fc.constantFrom('v1', 'standard-webhooks-1', 'v2', 'V1', 'standard-webhooks-2', '');
    const fitting = [secretOf(24), secretOf(64)];
    const secrets = fc.constantFrom(undefined, 'a secret of at least 24 bytes', secretOf(65), ...fitting);
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 4 }), secrets, (asked, secret) => {
        const isList =
          asked.includes('v1') &&
          new Set(asked).size === asked.length &&
          asked.every((id) => BOTH.includes(id as 'v1'));
        const isFitting = !asked.includes('standard-webhooks-1') || (secret !== undefined && fitting.includes(secret));
        const accepted =
          refused(2, { signatureAlgorithms: asked, ...(secret !== undefined && { secret }) }).length === 0;
        expect(accepted).toBe(isList && isFitting);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([[['standard-webhooks-1']], [[]], [['v1', 'v1']], [['v1', 'v2']], ['v1'], [null], [[['v1']]]])(
    'the list %j is refused',
    (signatureAlgorithms) => {
      expect(refused(2, { signatureAlgorithms, secret: secretOf(32) })).toContain('signatureAlgorithms');
    },
  );

  test('a host that does not serve the scheme does not take it', () => {
    const rules = registrationSchema({ tenantIdOptional: false, signatureAlgorithms: ['v1'] });
    expect(refused(2, { signatureAlgorithms: BOTH, secret: secretOf(32) }, rules)).toContain('signatureAlgorithms');
  });

  test('major 1 takes no secret, so it does not take the scheme either', () => {
    expect(refused(1, { signatureAlgorithms: BOTH })).toContain('signatureAlgorithms');
    expect(refused(1, { signatureAlgorithms: BOTH, secret: secretOf(32) })).toContain('body');
  });
});

describe(covers('webhooks.signature.standard-secret-form'), () => {
  const FORMS: readonly [string, string | undefined][] = [
    ['none', undefined],
    ['23 bytes', secretOf(23)],
    ['65 bytes', secretOf(65)],
    ['another prefix', secretOf(32).replace('whsec_', 'WHSEC_')],
    ['base64url', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`],
    ['no padding', secretOf(32).replace(/=+$/, '')],
    ['64 hexadecimal digits', randomBytes(32).toString('hex')],
  ];

  test.each(FORMS)('a registration with %s is refused, and the secret is not repeated', (_what, secret) => {
    expect(refused(2, { signatureAlgorithms: BOTH, secret })).toEqual(['secret']);
    let message = '';
    try {
      parse(schema[2], { ...base, signatureAlgorithms: BOTH, secret });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('whsec_ followed by the base64 of 24 to 64 bytes');
    if (secret !== undefined) expect(message).not.toContain(secret);
  });

  test.each(FORMS)('a rotation to %s is refused', (_what, secret) => {
    expect(() => parse(rotation, { secret })).toThrow();
  });

  test.each([24, 32, 64])('%i bytes are taken by both', (bytes) => {
    expect(refused(2, { signatureAlgorithms: BOTH, secret: secretOf(bytes) })).toEqual([]);
    expect(() => parse(rotation, { secret: secretOf(bytes) })).not.toThrow();
  });

  test('a rotation takes the secret and nothing else', () => {
    expect(() => parse(rotation, { secret: secretOf(32), overlapSeconds: 1 })).toThrow();
  });
});
