import { expect, test } from 'vitest';
import { jsonFault } from './json-fault.ts';

test.each<[string, string, number, number, string]>([
  ['an empty text', '', 1, 1, 'the text ends early: a value is expected.'],
  ['an object that does not end', '{\n  "a": 1', 2, 9, 'the text ends early: a comma or } is expected.'],
  ['a comma before the end of an object', '{\n  "a": 1,\n}', 3, 1, 'a comma stands before }. Remove the comma.'],
  ['a comma before the end of a list', '[1,]', 1, 4, 'a comma stands before ]. Remove the comma.'],
  ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma or } is expected. Add it.'],
  ['a missing colon', '{"a" 1}', 1, 6, 'a colon is expected after the key. Add it.'],
  ['a key without quotes', '{a: 1}', 1, 2, 'a key is expected. Write it in double quotes.'],
  ['single quotes', "{'a': 1}", 1, 2, 'a key is expected. Write it in double quotes.'],
  ['a comment', '{\n  // why\n}', 2, 3, 'JSON has no comments. Remove this one.'],
  ['a word that is no value', '{"a": yes}', 1, 7, 'a value is expected.'],
  ['a number with a leading zero', '{"a": 007}', 1, 7, 'a value is expected.'],
  ['a string that does not end', '{"a": "b\n}', 1, 7, 'the string does not end in its line.'],
  ['an unknown escape', '{"a": "C:\\d"}', 1, 7, 'the string has a control character or an unknown escape.'],
  ['a text after the end', '{}\n{}', 2, 1, 'text follows the end of the value. Remove it.'],
  ['a key that is there twice', '{\n  "a": 1,\n  "\\u0061": 2\n}', 3, 3, 'the object has this key twice.'],
  ['too many levels', '['.repeat(200), 1, 101, 'more than 100 levels are nested.'],
])('names the place and the fault of %s', (_text, text, line, column, message) => {
  expect(jsonFault(text)).toMatchObject({ line, column, message: expect.stringContaining(message) });
});

test.each(['{}', ' [1, -0.5e+3, "\\n\\u00e9", true, false, null, {"a": {"a": []}}]\r\n'])(
  'finds no fault in %s',
  (text) => {
    expect(jsonFault(text)).toBeUndefined();
    expect(() => JSON.parse(text)).not.toThrow();
  },
);
