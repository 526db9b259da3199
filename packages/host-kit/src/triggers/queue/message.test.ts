import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { QueueSource } from '../../ports/triggers.ts';
import { readQueueMessage } from './message.ts';

const SOURCE: QueueSource = { connection: 'shop', name: 'orders' };
const facts = { deliveryId: 'dlv_1', receivedAt: 0 };
const options = { maxBytes: 100, parse: (body: Uint8Array) => JSON.parse(new TextDecoder().decode(body)) };
const bytes = (text: string) => new TextEncoder().encode(text);

function read(text: string, id: string | undefined = 'm1', source: Partial<QueueSource> = {}) {
  return readQueueMessage({ ...SOURCE, ...source }, { id, body: bytes(text) }, options);
}

describe(covers('triggers.queue.refused', 'triggers.message.dedup'), () => {
  test('the document has the content and the facts of the host', () => {
    expect(read('{"a":1}').document?.(facts)).toEqual({
      ...{ id: 'dlv_1', source: 'queue', receivedAt: '1970-01-01T00:00:00.000Z' },
      body: { a: 1 },
    });
  });

  test.each([
    ['100 bytes', `"${'x'.repeat(98)}"`, undefined],
    ['101 bytes', `"${'x'.repeat(99)}"`, 'message: has more than 100 bytes'],
    ['no JSON', '{', 'message: is not JSON in UTF-8, or is nested too deeply'],
    ['nothing', '', 'message: is not JSON in UTF-8, or is nested too deeply'],
  ])('content of %s has the problem %j', (_what, text, problem) => {
    const found = read(text, 'm1');
    expect([found.problem, found.document === undefined]).toEqual([problem, problem !== undefined]);
  });

  test.each<[string, Parameters<typeof read>, Parameters<typeof read>, boolean]>([
    ['one id and one content', ['1', 'm1'], ['1', 'm1'], true],
    ['one id and two contents', ['1', 'm1'], ['2', 'm1'], true],
    ['two ids and one content', ['1', 'm1'], ['1', 'm2'], false],
    ['one id in two queues', ['1', 'm1'], ['1', 'm1', { name: 'b' }], false],
    ['one id on two connections', ['1', 'm1'], ['1', 'm1', { connection: 'b' }], false],
    ['one named value', ['{"k":"a"}', 'm1', { dedupPointer: '/k' }], ['{"k":"a"}', 'm2', { dedupPointer: '/k' }], true],
    ['one id, named', ['{"k":"m1"}', 'm0', { dedupPointer: '/k' }], ['1', 'm1'], false],
    ['no named value', ['{"k":""}', 'm1', { dedupPointer: '/k' }], ['{"k":""}', 'm2', { dedupPointer: '/k' }], false],
  ])('messages with %s share a key: %s', (_what, one, other, same) => {
    expect(read(...one).dedupKey === read(...other).dedupKey).toBe(same);
  });

  test('a message without an id needs a named value', () => {
    const withoutId = (text: string, dedupPointer?: string) =>
      readQueueMessage(
        { ...SOURCE, ...(dedupPointer !== undefined && { dedupPointer }) },
        { id: undefined, body: bytes(text) },
        options,
      ).problem;
    expect(withoutId('{"k":1}')).toContain('message: has no id');
    expect(withoutId('{"k":{}}', '/k')).toContain('message: has no id');
    expect(withoutId('{"k":1}', '/k')).toBe(undefined);
  });

  test('every content has a key, and a document or a problem', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 150 }), fc.option(fc.string(), { nil: undefined }), (body, id) => {
        const found = readQueueMessage(SOURCE, { id, body }, options);
        expect(found.dedupKey).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect(found.document === undefined).toBe(found.problem !== undefined);
      }),
    );
  });
});
