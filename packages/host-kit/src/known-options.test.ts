import { describe, expect, test } from 'vitest';
import { HOST_OPTION_NAMES } from './host/option-names.ts';
import { requireKnown } from './known-options.ts';

describe('requireKnown', () => {
  test.each([
    [{ stroe: {} }, 'createHost: unknown option stroe. Did you mean store?'],
    [
      { webhooks: { retyPolicy: {} } },
      'createHost: unknown option webhooks.retyPolicy. Did you mean webhooks.retryPolicy?',
    ],
    [{ webhooks: { circuit: { cooldown: 1 } } }, 'createHost: unknown option webhooks.circuit.cooldown. Did you mean'],
    [
      { http: { streams: { places: { perRun: 1 } } } },
      'createHost: unknown option http.streams.places. The options there are readerLimits',
    ],
    [
      { http: { cors: ['https://a.example'] } },
      'createHost: http.cors must be an object, not a list. The options there are origins',
    ],
    [{ clock: {} }, 'createHost: unknown option clock. Did you mean ports.clock?'],
    [{ webhooks: { perTenant: 4 } }, 'unknown option webhooks.perTenant. Did you mean webhooks.concurrency.perTenant?'],
    [{ audit: 'yes' }, 'createHost: audit must be an object.'],
    [null, 'createHost: its options must be an object.'],
    [{ ['__proto__']: 1, constructor: 1 }, 'createHost: unknown option __proto__.'],
  ])('rejects %j', (options, message) => {
    const known = () => requireKnown('createHost', options, HOST_OPTION_NAMES);
    expect(known).toThrow(TypeError);
    expect(known).toThrow(message);
  });

  test('accepts every known option, and a missing or undefined one', () => {
    const everything = filled(HOST_OPTION_NAMES);
    expect(() => requireKnown('createHost', everything, HOST_OPTION_NAMES)).not.toThrow();
    expect(() => requireKnown('createHost', {}, HOST_OPTION_NAMES)).not.toThrow();
    expect(() => requireKnown('createHost', { webhooks: undefined }, HOST_OPTION_NAMES)).not.toThrow();
  });
});

/** Returns an object that has every named option. */
function filled(names: object): object {
  return Object.fromEntries(
    Object.entries(names).map(([name, below]) => [name, below === true ? 'anything' : filled(below)]),
  );
}
