import { describe, expect, test } from 'vitest';
import { describeError } from './log.ts';

describe('an error in the log', () => {
  test('has its message, its stack, and the stacks of its causes', () => {
    const inner = new Error('the disk is full');
    const outer = new Error('the file was not written', { cause: new Error('the write failed', { cause: inner }) });
    const { error, stack } = describeError(outer);
    expect(error).toBe('the file was not written');
    expect(stack?.match(/Error: .*/g)).toEqual([
      'Error: the file was not written',
      'Error: the write failed',
      'Error: the disk is full',
    ]);
  });

  test('that is its own cause ends', () => {
    const error = new Error('again');
    error.cause = error;
    expect(describeError(error).stack?.match(/Caused by/g)).toHaveLength(5);
  });

  test.each([
    ['string', 'sk_live_secret'],
    ['object', { token: 'sk_live_secret' }],
    ['undefined', undefined],
  ])('that is a %s tells its type alone', (type, thrown) => {
    expect(describeError(thrown)).toEqual({ error: `thrown: a value of type ${type}, which is no Error.` });
  });
});
