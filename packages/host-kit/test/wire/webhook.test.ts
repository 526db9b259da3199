import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from '../../src/http/route.ts';
import type { SignatureAlgorithm } from '../../src/ports/subscriptions.ts';
import { subscribableEvents } from '../../src/webhooks/subscribable.ts';
import { registrationSchema, rotation } from '../../src/wire/webhook.ts';

const BOTH: readonly SignatureAlgorithm[] = ['v1', 'standard-webhooks-1'];
const subscribable = subscribableEvents({});
const schema = registrationSchema({ tenantIdOptional: false, signatureAlgorithms: BOTH, subscribable });
const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;
const base = { url: 'https://hooks.example/', events: ['run.completed'] };

/** Returns the rejected fields; none when the registration is accepted. */
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
  test('signs with v1 when the registration names no algorithm', () => {
    expect(parse(schema[2], base).signatureAlgorithms).toEqual(['v1']);
    expect(parse(schema[1], { ...base, tenantId: 'acme-prod' }).signatureAlgorithms).toEqual(['v1']);
    expect(refused(2, { signatureAlgorithms: ['v1'] })).toEqual([]);
    expect(refused(1, { signatureAlgorithms: ['v1'] })).toEqual([]);
  });

  test('accepts a list of served algorithms only with v1, without repeats, and with a valid secret', () => {
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

  test('rejects the scheme when the host does not serve it', () => {
    const rules = registrationSchema({ tenantIdOptional: false, signatureAlgorithms: ['v1'], subscribable });
    expect(refused(2, { signatureAlgorithms: BOTH, secret: secretOf(32) }, rules)).toContain('signatureAlgorithms');
  });

  test('rejects the scheme in major 1, which accepts no secret', () => {
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

  test.each(FORMS)('rejects a registration with %s without repeating the secret', (_what, secret) => {
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

  test.each(FORMS)('rejects a rotation to %s', (_what, secret) => {
    expect(() => parse(rotation, { secret })).toThrow();
  });

  test.each([24, 32, 64])('accepts a secret of %i bytes in a registration and in a rotation', (bytes) => {
    expect(refused(2, { signatureAlgorithms: BOTH, secret: secretOf(bytes) })).toEqual([]);
    expect(() => parse(rotation, { secret: secretOf(bytes) })).not.toThrow();
  });

  test('rejects a rotation with members besides the secret', () => {
    expect(() => parse(rotation, { secret: secretOf(32), overlapSeconds: 1 })).toThrow();
  });
});

test.each([
  [1, 'run.complete', ': use run.completed'],
  [2, 'trigger.delivery.attempted', ': use trigger.delivery-attempted'],
  [1, 'acme.order-shiped', ': use acme.order-shipped'],
  [2, 'order.shipped', ''],
  [1, 'x'.repeat(5000), ''],
] as const)(
  'an event type that major %i does not have is refused with the one that was meant: %s',
  (major, name, advice) => {
    const declared = subscribableEvents({ events: ['run.completed', 'acme.order-shipped'] });
    const problem = `"${name.slice(0, 128)}" is not an event type of major ${major}${advice}`;
    expect(declared.named(major, name)).toEqual({ problem });
  },
);
