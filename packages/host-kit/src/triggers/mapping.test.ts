import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { mapped } from './mapping.ts';
import { isPointer, valueAt } from './pointer.ts';

/** The document of RFC 6901, section 5. */
const RFC = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

describe('a JSON Pointer', () => {
  test.each<[string, Json]>([
    ['', RFC],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('%j is %j in the document of RFC 6901', (pointer, value) => {
    expect(isPointer(pointer)).toBe(true);
    expect(valueAt(RFC, pointer)).toEqual(value);
  });

  test.each(['/foo/2', '/foo/-', '/foo/00', '/foo/1e0', '/foo/length', '/none', '/foo/0/x', '/__proto__', '/toString'])(
    '%j is nowhere in it',
    (pointer) => expect(valueAt(RFC, pointer)).toBe(undefined),
  );

  test.each(['/text/length', '/text/0', '/number/toFixed', '/nothing/x', '/yes/valueOf'])(
    '%j is nowhere: texts, numbers and null have no members',
    (pointer) => expect(valueAt({ text: 'abc', number: 1, nothing: null, yes: true }, pointer)).toBe(undefined),
  );

  test('names any element of a long list', () => {
    const list = Array.from({ length: 1001 }, (_, index) => index);
    expect([valueAt(list, '/10'), valueAt(list, '/100'), valueAt(list, '/1000')]).toEqual([10, 100, 1000]);
    expect([valueAt(list, '/1x'), valueAt(list, '/1001'), valueAt(list, '/-1'), valueAt(list, '/01')]).toEqual(
      Array.from({ length: 4 }),
    );
  });

  test('has up to 1024 characters and 32 steps', () => {
    expect([isPointer(`/${'x'.repeat(1023)}`), isPointer('/x'.repeat(32))]).toEqual([true, true]);
  });

  test.each(['foo', '/~', '/~2', 'a/b', `/${'x'.repeat(1024)}`, '/x'.repeat(33)])('%j is none', (pointer) =>
    expect(isPointer(pointer)).toBe(false),
  );

  test('finds every member by its own name, with any characters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 8 }),
        fc.jsonValue(),
        (names, value) => {
          const known: Json = JSON.parse(JSON.stringify(value));
          const document = names.reduceRight<Json>((inner, name) => Object.fromEntries([[name, inner]]), known);
          const pointer = names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
          expect(isPointer(pointer)).toBe(true);
          expect(valueAt(document, pointer)).toEqual(known);
        },
      ),
    );
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.jsonValue(),
        (pointer, value) => void valueAt(JSON.parse(JSON.stringify(value)), pointer),
      ),
    );
  });
});

describe(covers('triggers.mapping.closed'), () => {
  const document = { type: 'order.created', body: { id: 42, customer: null } };

  test('takes values of the message, constants, and defaults for absent places', () => {
    const inputs = {
      id: { pointer: '/body/id' },
      customer: { pointer: '/body/customer' },
      note: { pointer: '/body/note', default: 'none' },
      origin: { constant: { shop: 1 } },
    };
    const expected = { id: 42, customer: null, note: 'none', origin: { shop: 1 } };
    expect(mapped({ workflowId: 'echo', inputs }, document, 1000)).toEqual({
      ok: true,
      workflowId: 'echo',
      inputs: expected,
    });
  });

  test('selects one of the named workflows by a text of the message', () => {
    const workflowId = { pointer: '/type', cases: { 'order.created': 'ship' } };
    expect(mapped({ workflowId, inputs: {} }, document, 1000)).toMatchObject({ ok: true, workflowId: 'ship' });
    const problem = 'mapping.workflowId: no case fits the value at "/type"';
    const cases = { ...workflowId.cases, 7: 'seven', null: 'nothing' };
    for (const type of ['order.paid', 'toString', '__proto__', 7, null]) {
      const chosen = { ...workflowId, cases };
      expect(mapped({ workflowId: chosen, inputs: {} }, { type }, 1000)).toEqual({ ok: false, problem });
    }
  });

  test('names a place that the message lacks, and starts nothing', () => {
    const inputs = { total: { pointer: '/body/total' } };
    const problem = 'mapping.inputs.total: the message has no value at "/body/total"';
    expect(mapped({ workflowId: 'echo', inputs }, document, 1000)).toEqual({ ok: false, problem });
  });

  test('takes no more from a message than its bound, however many inputs name one place', () => {
    const place = { pointer: '/body/text' };
    const long = { body: { text: 'x'.repeat(498) } };
    const constant = { constant: 'y'.repeat(1000) };
    expect(mapped({ workflowId: 'echo', inputs: { a: place, b: place, constant } }, long, 1000).ok).toBe(true);
    const problem = 'mapping.inputs.c: the inputs take more than 1000 characters from the message';
    const inputs = { a: place, b: place, c: place, d: place };
    expect(mapped({ workflowId: 'echo', inputs }, long, 1000)).toEqual({ ok: false, problem });
  });

  test('names an input and a place in text that every store takes', () => {
    const inputs = { 'a\0b': { pointer: '/body/c\0d' } };
    const problem = 'mapping.inputs.a\\u0000b: the message has no value at "/body/c\\u0000d"';
    expect(mapped({ workflowId: 'echo', inputs }, document, 1000)).toEqual({ ok: false, problem });
  });

  test('an input named __proto__ is an own member', () => {
    const inputs = Object.fromEntries([['__proto__', { constant: 1 }]]);
    const result = mapped({ workflowId: 'echo', inputs }, document, 1000);
    expect(result.ok && Object.keys(result.inputs)).toEqual(['__proto__']);
  });
});
