import { inflateSync } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inflated } from './inflate.ts';
import { type StatusSize, statusAt } from './status-bits.ts';

/** Writes every bit of a list as a character, in the order of the indexes, and reads a status from the text. */
function naive(bytes: Uint8Array, bits: StatusSize, index: number): number | undefined {
  const text = [...bytes].map((byte) => [...byte.toString(2).padStart(8, '0')].reverse().join('')).join('');
  const digits = text.slice(index * bits, (index + 1) * bits);
  return digits.length < bits ? undefined : Number.parseInt([...digits].reverse().join(''), 2);
}

const all = (bytes: Uint8Array, bits: StatusSize) =>
  Array.from({ length: (bytes.length * 8) / bits }, (_, index) => statusAt(bytes, bits, index));

/** The compressed lists of draft-ietf-oauth-status-list, Appendix C, with a million statuses. */
const LONG: readonly [StatusSize, string, Readonly<Record<number, number>>][] = [
  [
    1,
    [
      '78daeddc010dc0200c0041a88249400ad2903e0f4b',
      'ba00bd93f002beb7a2a2010000a91e09000000000000000000000000000000807296',
      '04000000000000000000000000000000000000000000000000000000000000000000',
      '000000000000005c6f4800000000000000fc2c240000000000000000000000be1b12',
      '000000000000000000ecaa4b000000000000000000000000000000009b0b09000000',
      '00000000000038de9400000000000000002a30cc010000000080642f0bd8011b',
    ].join(''),
    {
      ...{ 0: 1, 1993: 1, 25460: 1, 159495: 1, 495669: 1, 554353: 1, 645645: 1, 723232: 1 },
      ...{ 854545: 1, 934534: 1, 1000345: 1 },
    },
  ],
  [
    2,
    [
      '78daeddb310d00211000412ea1a04004fe5520ed',
      '357c28c81d3312b6df68bc65480000000000406e2101000000000000000000000000',
      '0000000000000000000000000000000000000040795b020000000000000000000000',
      '00000000000000000000000000000000000000000000000000000000000000000000',
      '00000000000000000000000000000000000000000000000000000000000000000000',
      '0080f4ba0400000000000000000000000000406d764a000000000000000000000000',
      '000000000000000000e0922101000000000000000000000000000000000000fc1312',
      '00000000000000000000000000000000000000000000000000000000000000c0912e',
      '01000000000000000000000000000000000000c07d4b020000000000000000000000',
      '00000000a8614a0000000000000000000000406a1fcd60010c',
    ].join(''),
    {
      ...{ 0: 1, 1993: 2, 25460: 1, 159495: 3, 495669: 1, 554353: 1, 645645: 2, 723232: 1 },
      ...{ 854545: 1, 934534: 2, 1000345: 3 },
    },
  ],
];

describe(covers('auth.bearer.status-list'), () => {
  test('the short lists of the specification are read', async () => {
    const one = await inflated(Buffer.from('eNrbuRgAAhcBXQ', 'base64url'), 2);
    expect(Buffer.from(one).toString('hex')).toBe('b9a3');
    expect(all(one, 1)).toEqual([1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1]);
    const two = await inflated(Buffer.from('eNo76fITAAPfAgc', 'base64url'), 3);
    expect(Buffer.from(two).toString('hex')).toBe('c944f9');
    expect(all(two, 2)).toEqual([1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3]);
  });

  test.each(LONG)('the long list of %i bits of the specification is read', async (bits, hex, statuses) => {
    const bytes = await inflated(Buffer.from(hex, 'hex'), 1024 * 1024);
    const found = all(bytes, bits).flatMap((status, index) => (status === 0 ? [] : [[index, status]]));
    expect(found).toEqual(Object.entries(statuses).map(([index, status]) => [Number(index), status]));
  });

  test('any list is read as a naive reader reads it, and nothing behind its end', () => {
    const lists = fc.uint8Array({ maxLength: 24 });
    const bits = fc.constantFrom<StatusSize>(1, 2, 4, 8);
    fc.assert(
      fc.property(lists, bits, fc.nat(250), (bytes, size, index) => {
        expect(statusAt(bytes, size, index)).toBe(naive(bytes, size, index));
      }),
    );
  });

  test.each([2 ** 31, 2 ** 32, 2 ** 35, Number.MAX_SAFE_INTEGER])('the index %i names no other token', (index) => {
    for (const bits of [1, 2, 4, 8] as const) expect(statusAt(new Uint8Array(8).fill(1), bits, index)).toBeUndefined();
  });
});

describe('inflated', () => {
  test('any bytes inflate as the zlib of Node inflates them, or are refused', async () => {
    const property = fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), fc.boolean(), async (tail, isZlib) => {
      const data = Buffer.concat([isZlib ? Buffer.from([0x78, 0xda]) : Buffer.alloc(0), tail]);
      let expected: string | undefined;
      try {
        const { buffer, engine } = inflateSync(data, { info: true }) as unknown as {
          buffer: Buffer;
          engine: { bytesWritten: number };
        };
        // The zlib of Node ignores bytes after the end.
        if (engine.bytesWritten === data.length) expected = buffer.toString('hex');
      } catch {
        expected = undefined;
      }
      const found = await inflated(data, 1024 * 1024).then(
        (bytes) => Buffer.from(bytes).toString('hex'),
        () => undefined,
      );
      expect(found).toBe(expected);
    });
    await fc.assert(property);
  });
});
