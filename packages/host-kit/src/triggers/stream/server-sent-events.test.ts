import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServerSentEventParser, type StreamPart } from './server-sent-events.ts';

function partsOf(chunks: readonly Uint8Array[], maxBytes = 1000, lastEventId = ''): readonly StreamPart[] {
  const parser = new ServerSentEventParser({ maxBytes, lastEventId });
  return chunks.flatMap((chunk) => [...parser.read(chunk)]);
}

function read(text: string, maxBytes?: number, lastEventId?: string): readonly StreamPart[] {
  return partsOf([Buffer.from(text)], maxBytes, lastEventId);
}

/** The events in short: type, data, last id, and whether the id is its own. */
function events(text: string, maxBytes?: number, lastEventId?: string) {
  return read(text, maxBytes, lastEventId).map((part) => {
    if (part.kind !== 'event') return part;
    const { type, data, lastEventId: id, hasId, isTooLarge } = part;
    return [type, isTooLarge ? undefined : data, id, hasId];
  });
}

describe(covers('triggers.stream.parsing'), () => {
  test.each<[string, string, readonly unknown[]]>([
    // The examples of HTML, section 9.2.6.
    ['of several lines', 'data: YHOO\ndata: +2\ndata: 10\n\n', [['message', 'YHOO\n+2\n10', '', false]]],
    [
      'with comments, ids and a reset id',
      ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
      [
        ['message', 'first event', '1', true],
        ['message', 'second event', '', false],
        ['message', ' third event', '', false],
      ],
    ],
    [
      'with empty data, and one that the end cuts off',
      'data\n\ndata\ndata\n\ndata:',
      [
        ['message', '', '', false],
        ['message', '\n', '', false],
      ],
    ],
    [
      'with and without a space',
      'data:test\n\ndata: test\n\n',
      [
        ['message', 'test', '', false],
        ['message', 'test', '', false],
      ],
    ],
    [
      'with a type, which the next one does not have',
      'event: add\ndata: 1\n\ndata: 2\n\n',
      [
        ['add', '1', '', false],
        ['message', '2', '', false],
      ],
    ],
    ['that names an empty type', 'event\ndata: 1\n\n', [['message', '1', '', false]]],
    ['without data: it has a type alone', 'event: add\n\n', []],
    ['without data: its id counts', 'id: 7\n\n', [{ kind: 'id', lastEventId: '7' }]],
    [
      'whose id has NUL: the id is ignored',
      'id: 1\n\nid: 2\0\ndata: 1\n\n',
      [{ kind: 'id', lastEventId: '1' }, ['message', '1', '1', false]],
    ],
    [
      'that keeps the id of the one before',
      'id: 1\ndata: a\n\ndata: b\n\n',
      [
        ['message', 'a', '1', true],
        ['message', 'b', '1', false],
      ],
    ],
    [
      'whose id is the same again',
      'id: 1\ndata: a\n\nid: 1\ndata: b\n\n',
      [
        ['message', 'a', '1', true],
        ['message', 'b', '1', true],
      ],
    ],
    [
      'with fields that are unknown or spelled otherwise',
      'Data: 1\n data: 2\ndata : 3\nx: 4\ndata: 5\n\n',
      [['message', '5', '', false]],
    ],
    ['with a colon in the data', 'data: a: b:c\n\n', [['message', 'a: b:c', '', false]]],
    ['that a byte order mark begins', '\ufeffdata: 1\n\n', [['message', '1', '', false]]],
    ['whose data begin with a byte order mark', 'data:\ufeff1\n\n', [['message', '\ufeff1', '', false]]],
    ['with CR', 'data: 1\rid: 2\r\r', [['message', '1', '2', true]]],
    ['with CRLF', 'data: 1\r\nid: 2\r\n\r\n', [['message', '1', '2', true]]],
    ['with an id that no blank line ends', 'id: 9\ndata: 1\n', []],
    [
      'between two pauses',
      'retry: 100\ndata: 1\nretry: 1.5\nretry: -1\nretry:\n\nretry:20\n\n',
      [{ kind: 'retry', ms: 100 }, ['message', '1', '', false], { kind: 'retry', ms: 20 }],
    ],
  ])('an event %s', (_what, text, expected) => expect(events(text)).toEqual(expected));

  test('a resumed stream begins with the id after which it was resumed', () =>
    expect(events('data: 1\n\n', 1000, '41')).toEqual([['message', '1', '41', false]]));

  test('bytes that are no UTF-8 are replaced', () => {
    const chunk = Buffer.concat([Buffer.from('data: '), Uint8Array.of(0xff, 0xc3), Buffer.from('\n\n')]);
    expect(partsOf([chunk])).toMatchObject([{ data: '\ufffd\ufffd' }]);
  });
});

describe(covers('triggers.stream.bounds'), () => {
  test.each<[string, string, readonly unknown[]]>([
    [
      'one line',
      `id: 1\ndata: ${'x'.repeat(11)}\n\ndata: y\n\n`,
      [
        ['message', undefined, '1', true],
        ['message', 'y', '1', false],
      ],
    ],
    ['several lines', 'id: 1\ndata: xxxxx\ndata: xxxxx\n\n', [['message', undefined, '1', true]]],
    ['just as many bytes', 'data: 0123\ndata: 56789\n\n', [['message', '0123\n56789', '', false]]],
    ['bytes, not characters', 'data: éééééé\n\n', [['message', undefined, '', false]]],
    ['a comment', `:${'x'.repeat(50)}\ndata: y\n\n`, [['message', 'y', '', false]]],
    ['an id, which is not cut', `id: ${'7'.repeat(30)}\ndata: y\n\n`, [['message', undefined, '', false]]],
    ['a type, which is not cut', `event: ${'7'.repeat(30)}\ndata: y\n\n`, [['message', undefined, '', false]]],
  ])('an event is too large through %s, and the next one is read', (_what, text, expected) =>
    expect(events(text, 10)).toEqual(expected),
  );

  test('the events do not depend on the boundaries of chunks', () => {
    const piece = fc.constantFrom(
      ...[
        'data: a\n',
        'data:é\r\n',
        'data',
        'id: 1\r',
        'id: 2\n',
        'id\n',
        'event: x\n',
        ': c\n',
        'retry: 5\n',
        '\n',
        '\r',
        '\r\n',
      ],
      ...['\ufeff', '\u{1f600}', 'id: \0\n', `data: ${'z'.repeat(20)}\n`],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(400), { maxLength: 15 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
        const chunks = [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
        expect(partsOf(chunks, 16)).toEqual(partsOf([bytes], 16));
      }),
    );
  });
});
