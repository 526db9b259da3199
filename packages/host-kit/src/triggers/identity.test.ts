import { describe, expect, test } from 'vitest';
import { identityAt } from './identity.ts';

describe('the identity that a content names', () => {
  test.each<[string, string | undefined, string | undefined]>([
    ['{"id":"a"}', '/id', 'a'],
    ['{"id":0}', '/id', '0'],
    ['{"id":-9007199254740991}', '/id', '-9007199254740991'],
    ['{"id":9007199254740993}', '/id', undefined],
    ['{"id":12345678901234567890}', '/id', undefined],
    ['{"id":0.1}', '/id', undefined],
    ['{"id":1e400}', '/id', undefined],
    ['{"id":""}', '/id', undefined],
    ['{"id":null}', '/id', undefined],
    ['{"id":{}}', '/id', undefined],
    ['{"id":"a"}', '/other', undefined],
    ['{"id":"a"}', undefined, undefined],
  ])('of %s at %s is %s', (content, pointer, identity) => {
    expect(identityAt(JSON.parse(content), pointer)).toBe(identity);
  });
});
