import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ForwardedHeader, forwardedHops } from './forwarded-hops.ts';

const hops = (header: ForwardedHeader, text: string | string[]) =>
  forwardedHops({ headers: { [header]: text } }, header);

/** An address, and the forms in which proxies write it. */
const node = fc
  .oneof(
    fc.ipV4().map((address) => ({ address, bare: [address], node: address })),
    fc.ipV6().map((address) => ({ address, bare: [address, `[${address}]`], node: `[${address}]` })),
  )
  .chain(({ address, bare, node }) =>
    fc.record({
      address: fc.constant(address),
      port: fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined }),
      bare: fc.constantFrom(...bare),
      node: fc.constant(node),
    }),
  );
const chain = fc.array(node, { maxLength: 8 });
const comma = fc.constantFrom(',', ', ', ' ,', ' ,\t', ', ,');

const appended = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for="203.0.113.9:4711"' } as const;
const headers: readonly ForwardedHeader[] = ['x-forwarded-for', 'forwarded'];

describe('forwardedHops', () => {
  test('reads any chain of addresses from X-Forwarded-For, with and without ports', () => {
    fc.assert(
      fc.property(chain, comma, (nodes, separator) => {
        const written = nodes.map(({ bare, node, port }) => (port === undefined ? bare : `${node}:${port}`));
        expect(hops('x-forwarded-for', written.join(separator))).toEqual(nodes.map(({ address }) => address));
      }),
    );
  });

  test('reads any chain of addresses from Forwarded, among any other parameters', () => {
    const quoted = fc
      .string({ unit: 'grapheme-ascii', maxLength: 12 })
      .map((text) => `host="${text.replace(/["\\]/g, '\\$&')}"`);
    const other = fc.oneof(quoted, fc.constantFrom('proto=https', 'by=_gateway', 'BY="[2001:db8::1]"'));
    const element = fc.tuple(node, fc.array(other, { maxLength: 2 }), fc.array(other, { maxLength: 2 }));
    fc.assert(
      fc.property(fc.array(element, { maxLength: 8 }), comma, (elements, separator) => {
        const written = elements.map(([{ node, port }, before, after]) => {
          const value = port === undefined ? node : `${node}:${port}`;
          const pair = /[[:]/.test(value) ? `for="${value}"` : `For=${value}`;
          return [...before, pair, ...after].join(';');
        });
        expect(hops('forwarded', written.join(separator))).toEqual(elements.map(([{ address }]) => address));
      }),
    );
  });

  test.each(headers)(
    'a client that sends any %s of its own cannot choose the address that its proxy appends',
    (header) => {
      const text = fc.oneof(
        fc.string({ unit: 'binary-ascii', maxLength: 60 }),
        fc.stringMatching(/^[for=",;\\ 0-9.[\]:_-]{0,60}$/),
      );
      fc.assert(
        fc.property(text, fc.boolean(), (own, isSeparateLine) => {
          const sent = isSeparateLine ? [own, appended[header]] : `${own}, ${appended[header]}`;
          expect(['203.0.113.9', undefined]).toContain(hops(header, sent).at(-1));
          if (header === 'x-forwarded-for') expect(hops(header, sent).at(-1)).toBe('203.0.113.9');
        }),
      );
    },
  );

  test('reads a header of 16 KiB without a pause', () => {
    for (const text of ['"', 'for="', '\\', 'for=1,', ';', ' ', '1:', '1.']) {
      const start = process.cpuUsage().user;
      for (const header of headers) hops(header, text.repeat(16_384 / text.length));
      expect(process.cpuUsage(undefined).user - start).toBeLessThan(200_000);
    }
  });
});
