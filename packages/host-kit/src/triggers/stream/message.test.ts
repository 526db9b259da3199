import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import type { StreamSource } from '../../ports/triggers.ts';
import { readEvent, readLine } from './message.ts';

const options = { maxBytes: 100, parse: (body: Uint8Array) => JSON.parse(new TextDecoder().decode(body)) };
const SSE: StreamSource = { url: 'https://x.example/', format: 'sse' };
const LINES: StreamSource = { url: 'https://x.example/', format: 'ndjson', cursorPointer: '/seq' };

function event(fields: Partial<Parameters<typeof readEvent>[1]> = {}, source = SSE) {
  const first = { type: 'message', data: '{"order":1}', isTooLarge: false, lastEventId: '7', hasId: true } as const;
  return readEvent(source, { kind: 'event', ...first, ...fields }, options);
}

function line(content: unknown, source = LINES) {
  const bytes = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  return readLine(source, { bytes, isTooLong: false }, options);
}

const FACTS = { deliveryId: 'dlv_1', receivedAt: 0 };

describe(covers('triggers.stream.identity'), () => {
  test('an event is identified by its own id, and its document has its type', () => {
    const message = event({ type: 'order.created' });
    expect(message.cursor).toBe('7');
    expect(message.document?.(FACTS)).toEqual({
      ...{ id: 'dlv_1', source: 'stream', type: 'order.created', eventId: '7' },
      ...{ receivedAt: '1970-01-01T00:00:00.000Z', body: { order: 1 } },
    });
    expect(event({ data: '2' }).dedupKey).toBe(message.dedupKey);
    expect(event({ lastEventId: '8' }).dedupKey).not.toBe(message.dedupKey);
  });

  test('the id of an earlier event identifies none', () =>
    expect(event({ hasId: false })).toMatchObject({
      cursor: '7',
      problem: expect.stringContaining('has no identity'),
    }));

  test('the value at dedupPointer comes before the id', () => {
    const source = { ...SSE, dedupPointer: '/order' };
    expect(event({ lastEventId: '8' }, source).dedupKey).toBe(event({}, source).dedupKey);
    expect(event({ hasId: false }, source).dedupKey).toBe(event({}, source).dedupKey);
    expect(event({ data: '{"order":2}' }, source).dedupKey).not.toBe(event({}, source).dedupKey);
  });

  test.each([
    ['more than 1024 bytes', 'é'.repeat(513)],
    ['control characters', 'a\u0001'],
  ])('an id with %s moves no cursor: it could not be sent back', (_what, lastEventId) =>
    expect(event({ lastEventId })).toMatchObject({ cursor: undefined, problem: expect.stringContaining('its id has') }),
  );

  test('a line is identified by its cursor, or by the value at dedupPointer', () => {
    expect(line({ seq: 5 }).cursor).toBe('5');
    expect(line({ seq: 'a' }).cursor).toBe('a');
    expect(line({ seq: 5, a: 1 }).dedupKey).toBe(line({ seq: 5, a: 2 }).dedupKey);
    const named = { ...LINES, dedupPointer: '/a' };
    expect(line({ seq: 5, a: 1 }, named).dedupKey).toBe(line({ seq: 6, a: 1 }, named).dedupKey);
    expect(line({ a: 1 }, { ...SSE, format: 'ndjson', dedupPointer: '/a' }).cursor).toBe(undefined);
  });

  test.each([
    ['no cursor', { a: 1 }],
    ['an empty cursor', { seq: '' }],
    ['a cursor that is neither text nor number', { seq: true }],
    ['a cursor with a fraction', { seq: 1.5 }],
    ['a number that JavaScript does not read exactly', '{"seq":12345678901234567891}'],
  ])('a line with %s is refused', (_what, content) => {
    expect(line(content)).toMatchObject({ cursor: undefined, problem: expect.stringMatching(/identity|cursor/) });
    const named = { ...LINES, dedupPointer: '/a' };
    const text = typeof content === 'string' ? '{"seq":12345678901234567891,"a":1}' : { ...content, a: 1 };
    expect(line(text, named)).toMatchObject({ problem: expect.stringContaining('has no cursor') });
  });
});

describe(covers('triggers.stream.refused'), () => {
  test.each([
    ['is no JSON', event({ data: '[DONE]' }), 'is not JSON'],
    ['is too large', event({ isTooLarge: true, data: '' }), 'has more than 100 bytes'],
  ])('an event that %s has a problem, and moves the cursor', (_what, message, problem) =>
    expect(message).toMatchObject({ cursor: '7', problem: expect.stringContaining(problem) }),
  );

  test('a line that is cut has a problem, and moves no cursor', () => {
    const cut = readLine(LINES, { bytes: Buffer.from('{"seq":1}'), isTooLong: true }, options);
    expect(cut).toMatchObject({ cursor: undefined, problem: 'message: has more than 100 bytes' });
  });
});
