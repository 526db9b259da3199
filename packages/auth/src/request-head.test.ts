import { describe, expect, test } from 'vitest';
import { headerValues, type RequestHead } from './request-head.ts';

describe('headerValues', () => {
  const heads: readonly (readonly [string, RequestHead, readonly string[]])[] = [
    ['a Web Headers object without it', { headers: new Headers() }, []],
    ['a Web Headers object with it', { headers: new Headers({ Authorization: 'a' }) }, ['a']],
    ['a record in lower case', { headers: { authorization: 'a' } }, ['a']],
    ['a record in any case', { headers: { AUTHORIZATION: 'a' } }, ['a']],
    ['a record with two spellings', { headers: { Authorization: 'a', authorization: 'b' } }, ['a', 'b']],
    ['a record with a list', { headers: { authorization: ['a', 'b'] } }, ['a', 'b']],
    ['a record with an undefined value', { headers: { authorization: undefined } }, []],
    ['a record with a header named get', { headers: { get: 'x', authorization: 'a' } }, ['a']],
    ['a record with names of the same length', { headers: { authorizations: 'a', authorisation: 'b' } }, []],
    ['an empty value', { headers: { authorization: '' } }, ['']],
    ['a name that is inherited', { headers: Object.create({ authorization: 'a' }) }, []],
    [
      'what Node joined or dropped, from its distinct view',
      { headers: { authorization: 'a' }, headersDistinct: { authorization: ['a', 'b'] } },
      ['a', 'b'],
    ],
    ['nothing in the distinct view', { headers: { authorization: 'a' }, headersDistinct: {} }, []],
    [
      'what Node dropped, from its raw view',
      { headers: { authorization: 'a' }, rawHeaders: ['Authorization', 'a', 'X', 'b', 'AUTHORIZATION', 'c'] },
      ['a', 'c'],
    ],
    ['a raw view where the name is a value', { headers: {}, rawHeaders: ['x', 'authorization', 'y', 'z'] }, []],
    ['a raw view that ends with a name', { headers: {}, rawHeaders: ['x', 'y', 'authorization'] }, []],
    ['nothing in the raw view', { headers: { authorization: 'a' }, rawHeaders: [] }, []],
  ];

  test.each(heads)('reads %s', (_case, head, values) => {
    expect(headerValues(head, 'authorization')).toEqual(values);
  });
});
