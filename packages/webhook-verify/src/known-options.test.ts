import { describe, expect, test } from 'vitest';
import { type OptionNames, requireKnown } from './known-options.ts';

interface Options {
  readonly onRejected?: () => void;
  readonly onFailed?: () => void;
  readonly now?: () => number;
  readonly webhookId?: string;
}

const NAMES: OptionNames<Options> = { onRejected: true, onFailed: true, now: true, webhookId: true };

describe('requireKnown names', () => {
  test.each([
    ['onReject', 'Did you mean onRejected?'],
    ['onfailed', 'Did you mean onFailed?'],
    ['nwo', 'Did you mean now?'],
    ['webhookid', 'Did you mean webhookId?'],
    ['timeout', 'Its options are onRejected, onFailed, now, webhookId.'],
    ['__proto__', 'Its options are onRejected, onFailed, now, webhookId.'],
    ['toString', 'Its options are onRejected, onFailed, now, webhookId.'],
  ])('the unknown option %s, and advises: %s', (name, advice) => {
    const options = Object.defineProperty({}, name, { value: 1, enumerable: true });
    expect(() => requireKnown('receive', options, NAMES)).toThrow(
      new TypeError(`receive: unknown option ${name}. ${advice}`),
    );
  });

  test.each([[null], [undefined], ['text'], [12]])('options that are not an object: %s', (options) => {
    expect(() => requireKnown('receive', options as unknown as object, NAMES)).toThrow(
      new TypeError('receive: its options must be an object.'),
    );
  });
});

test('requireKnown accepts every known name, and no name at all', () => {
  requireKnown('receive', {}, NAMES);
  requireKnown('receive', { now: Date.now, webhookId: undefined }, NAMES);
  requireKnown('receive', Object.create({ inherited: 1 }), NAMES);
});

test('a list of names that differs from the type does not compile', () => {
  // @ts-expect-error: webhookId is missing
  const short: OptionNames<Options> = { onRejected: true, onFailed: true, now: true };
  // @ts-expect-error: url is no option
  const long: OptionNames<Options> = { ...NAMES, url: true };
  expect([short, long]).toHaveLength(2);
});
