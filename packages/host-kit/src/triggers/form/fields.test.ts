import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostError } from '../../errors.ts';
import { bodyOf, parseFields } from './fields.ts';

const ENCODED = 'application/x-www-form-urlencoded';
const headersOf = (type: string) => new Headers({ 'content-type': type });
const bytesOf = (text: string) => new TextEncoder().encode(text);
const encoded = (text: string) => parseFields(headersOf(ENCODED), bytesOf(text));

async function multipart(form: FormData) {
  const sent = new Response(form);
  const type = sent.headers.get('content-type') ?? '';
  return parseFields(headersOf(type), new Uint8Array(await sent.arrayBuffer()));
}

describe('the fields of a form', () => {
  test('are read from both media types, in their order', async () => {
    const expected = [
      ['name', 'Ada & Co'],
      ['text', 'é\r\nü'],
      ['empty', ''],
    ];
    expect(await encoded('name=Ada+%26+Co&text=%C3%A9%0D%0A%C3%BC&empty=')).toEqual(expected);
    const form = new FormData();
    form.append('name', 'Ada & Co');
    form.append('text', 'é\r\nü');
    form.append('empty', '');
    expect(await multipart(form)).toEqual(expected);
  });

  test('make a body with a list for a repeated name, own members for every name, and without the token', async () => {
    const body = bodyOf(await encoded('a=1&b=2&a=3&a=4&svc_token=t&__proto__=5&constructor=6'));
    expect(JSON.stringify(body)).toBe('{"a":["1","3","4"],"b":"2","__proto__":"5","constructor":"6"}');
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  });

  test('of every kind are read as they were sent', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 });
    const fields = fc.array(
      fc.tuple(
        text.filter((name) => name !== '' && name.length <= 128),
        text,
      ),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (sent) => {
        expect(await encoded(new URLSearchParams(sent.map(([name, value]) => [name, value])).toString())).toEqual(sent);
      }),
    );
  });

  test('no body is answered by anything but a refusal or fields', async () => {
    const types = fc.constantFrom(ENCODED, 'multipart/form-data; boundary=x', 'multipart/form-data');
    const parts = fc.constantFrom('--x\r\n', '--x--', 'content-disposition: form-data; name="a"\r\n', '\r\n', ':', '"');
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(parts, { maxLength: 12 }).map((found) => bytesOf(found.join(''))),
    );
    await fc.assert(
      fc.asyncProperty(types, bodies, async (type, body) => {
        const outcome = await parseFields(headersOf(type), body).catch((error: unknown) => error);
        expect(Array.isArray(outcome) || (HostError.is(outcome) && outcome.status === 400)).toBe(true);
      }),
    );
  });

  test.each(['application/json', 'text/plain', '', `${ENCODED}x`])('the media type %j is refused', async (type) => {
    await expect(parseFields(headersOf(type), bytesOf('a=1'))).rejects.toMatchObject({ status: 415 });
  });

  test('a content coding is refused', async () => {
    const headers = new Headers({ 'content-type': ENCODED, 'content-encoding': 'gzip' });
    await expect(parseFields(headers, bytesOf('a=1'))).rejects.toMatchObject({ status: 415 });
  });

  test.each([
    ['in another parameter', 'multipart/form-data; q="; boundary=decoy"; boundary=x'],
    ['in a list of media types', 'multipart/form-data; boundary=decoy, multipart/form-data; boundary=x'],
    ['with a quoted pair', 'multipart/form-data; boundary="\\x"'],
  ])('parts of another boundary than the counted one, %s, are not read', async (_place, type) => {
    const body = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
    await expect(parseFields(headersOf(type), bytesOf(body))).rejects.toMatchObject({ status: 400 });
    const plain = parseFields(headersOf('multipart/form-data; charset=utf-8; boundary="x"'), bytesOf(body));
    expect(await plain).toEqual([['a', '1']]);
  });

  test('a file is refused, and so are too many fields, a nameless one and text that is not UTF-8', async () => {
    const form = new FormData();
    form.append('upload', new File(['x'], 'x.txt'));
    const refused = (problem: string) => ({
      status: 400,
      details: { fields: [expect.objectContaining({ problem: expect.stringContaining(problem) })] },
    });
    await expect(multipart(form)).rejects.toMatchObject(refused('must not have a file'));
    await expect(encoded('a=1&'.repeat(300))).rejects.toMatchObject(refused('at most 200 fields'));
    const many = new FormData();
    for (let n = 0; n < 200; n++) many.append('a', String(n));
    expect(await multipart(many)).toHaveLength(200);
    many.append('a', '200');
    await expect(multipart(many)).rejects.toMatchObject(refused('at most 200 fields'));
    await expect(encoded('=1')).rejects.toMatchObject(refused('names of fields'));
    await expect(encoded(`${'n'.repeat(129)}=1`)).rejects.toMatchObject(refused('names of fields'));
    await expect(parseFields(headersOf(ENCODED), Uint8Array.of(0x61, 0x3d, 0xff))).rejects.toMatchObject(
      refused('cannot be read'),
    );
  });
});
