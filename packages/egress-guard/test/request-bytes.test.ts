import { describe, expect, test } from 'vitest';
import { requestBytes } from '../src/node/request-bytes.ts';

const parts = { method: 'POST', host: 'a.example', path: '/p?q', headers: {}, body: undefined };

describe('the bytes of a request', () => {
  test.each([
    [{}, 'POST /p?q HTTP/1.1\r\nhost: a.example\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n'],
    [{ method: 'GET' }, 'GET /p?q HTTP/1.1\r\nhost: a.example\r\nconnection: keep-alive\r\n\r\n'],
    [
      { headers: { 'x-a': 'b', 'X-C': '' }, body: 'é' },
      'POST /p?q HTTP/1.1\r\nhost: a.example\r\nconnection: keep-alive\r\nx-a: b\r\nX-C: \r\ncontent-length: 2\r\n\r\n\xc3\xa9',
    ],
    [
      { host: '[::1]:8443', headers: { 'x-a': '\xe9' }, body: Uint8Array.of(0, 255) },
      'POST /p?q HTTP/1.1\r\nhost: [::1]:8443\r\nconnection: keep-alive\r\nx-a: \xe9\r\ncontent-length: 2\r\n\r\n\0\xff',
    ],
  ])('of %j', (over, text) => {
    expect(requestBytes({ ...parts, ...over }).toString('latin1')).toBe(text);
  });

  test.each([
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: 'a' },
    { path: '/\u0100' },
    { path: '' },
    { host: 'a\r\nx: y' },
    { host: 'a b' },
    { host: '' },
  ])('are not made of %j', (over) => {
    expect(() => requestBytes({ ...parts, ...over })).toThrow(TypeError);
  });
});
