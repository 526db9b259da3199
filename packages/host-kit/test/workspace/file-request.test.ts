import { expect, test } from 'vitest';
import { fileRequest } from '../../src/workspace/file-request.ts';

const isTaken = (contentType: string) => fileRequest.safeParse({ content: '', contentType }).success;

test.each(['text/plain', 'text/plain;charset=utf-8', 'text/plain; charset="utf-8" ; a=b', 'application/a+b;a=b;c=d'])(
  'the media type %j is taken',
  (contentType) => expect(isTaken(contentType)).toBe(true),
);

test.each(['text', 'text/', 'text/plain;', 'text/plain\r\nx: y', 'text/plain; é'])('%j is no media type', (text) =>
  expect(isTaken(text)).toBe(false),
);

test('a malformed media type with many parameters is rejected in linear time', () => {
  // Each semicolon doubled the time once: 2 ** 120 steps exceed the time limit of the test.
  expect(isTaken(`text/plain${';a'.repeat(120)}é`)).toBe(false);
});
