import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject, parseObject } from './strict-json.ts';

const parsed = (text: string) => parseObject(new TextEncoder().encode(text));

describe('parseObject', () => {
  test('returns any object that JSON.stringify wrote', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
        (value) => {
          const text = JSON.stringify(value);
          // Lone surrogates are escaped, and stay.
          fc.pre(!text.includes('__proto__'));
          expect(parsed(text)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  test.each([
    '{}',
    ' { "a" : [ { "b" : ":" } , "\\"" , "c:\\\\" ] } ',
    '{"a\\"b":1,"a\\\\":2,"\\\\\\"":{"c:d":[]}}',
    '{"a":{"x":1},"b":{"x":2},"c":[{"x":3},{"x":4}]}',
    '{"a":null,"toString":1,"constructor":{"prototype":2}}',
    '{"":0}',
  ])('accepts %s', (text) => {
    expect(parsed(text)).toEqual(JSON.parse(text));
  });

  test.each([
    ['a name twice', '{"a":1,"a":1}'],
    ['a name twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['a name twice further inside', '{"x":{"a":1,"a":2}}'],
    ['a name twice in a list', '{"x":[0,{"a":1,"a":2}]}'],
    ['a name twice in a list of lists', '{"x":[[{"a":1,"a":2}]]}'],
    ['a name twice behind a value with escapes', '{"b":"\\\\\\":","a":1,"a":2}'],
    ['a name twice, and a value with a colon', '{"a":":","a":1}'],
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['an escaped __proto__', '{"__pr\\u006fto__":1}'],
    ['__proto__ further inside', '{"a":[{"b":{"__proto__":null}}]}'],
    ['a list', '[]'],
    ['a text', '"{}"'],
    ['a number', '1'],
    ['null', 'null'],
    ['no JSON', '{a:1}'],
    ['nothing', ''],
    ['two objects', '{}{}'],
    ['a byte order mark', '\uFEFF{}'],
  ])('refuses %s', (_name, text) => {
    expect(parsed(text)).toBeUndefined();
  });

  test('refuses bytes that are not UTF-8', () => {
    const [open, close] = [new TextEncoder().encode('{"a":"'), new TextEncoder().encode('"}')];
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]])
      expect(parseObject(Uint8Array.of(...open, ...bytes, ...close))).toBeUndefined();
  });

  test('a repeated member is found wherever it is', () => {
    const name = fc.string({ unit: 'binary-ascii', maxLength: 4 });
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }), fc.nat(), (value, at) => {
        const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`);
        members.push(members[at % members.length] ?? '');
        expect(parsed(`{${members.join(',')}}`)).toBeUndefined();
        expect(parsed(`{"x":[{${members.join(',')}}]}`)).toBeUndefined();
      }),
    );
  });
});

test.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['{}', false],
  [() => undefined, false],
])('isObject of %o is %s', (value, expected) => {
  expect(isObject(value)).toBe(expected);
});
