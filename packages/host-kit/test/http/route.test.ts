import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Call, type Reply, route, routeWithBody } from '../../src/http/route.ts';
import type { Save } from '../../src/ports/idempotency.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';

const store = memoryStore();
const describes = { tag: 'Runs', summary: 'Do it', description: 'Does it.', answers: {} } as const;
const definition = { operationId: 'cancelRun', scope: 'runs:cancel', describes } as const;

/** A call that lists the replies that are stored. */
function newCall(json?: unknown) {
  const stored: Reply[] = [];
  const call = { major: 2, json, principal: { id: 'p_1' }, keep: async (reply: Reply) => void stored.push(reply) };
  return { stored, call: call as unknown as Call };
}

describe('a route with a reply', () => {
  const counting = (ends: 'as saved' | 'later' | 'rolled back') =>
    route({
      ...definition,
      async serve(_call, save: Save<number>) {
        await store.transaction(async (transaction) => {
          await save(1, transaction);
          if (ends === 'rolled back') throw new Error('no');
        });
        return ends === 'later' ? 2 : 1;
      },
      reply: (count, { major, principal }) => ({ status: 200, body: { count, major, by: principal.id } }),
    });
  const replyOf = (count: number) => ({ status: 200, body: { count, major: 2, by: 'p_1' } });

  test.each([
    ['as saved', replyOf(1)],
    ['later', replyOf(2)],
  ] as const)('stores the reply of the saved result, and returns the reply of the result (%s)', async (ends, reply) => {
    const { call, stored } = newCall();
    expect(await counting(ends).serve(call)).toEqual(reply);
    expect(stored).toEqual([replyOf(1)]);
  });

  test('rejects with the error of its operation', async () => {
    await expect(counting('rolled back').serve(newCall().call)).rejects.toThrow('no');
  });

  test('rolls the operation back when the result has no reply', async () => {
    let isCommitted = false;
    const refusing = route({
      ...definition,
      async serve(_call, save: Save<void>) {
        await store.transaction((transaction) => save(undefined, transaction));
        isCommitted = true;
      },
      reply: () => {
        throw new Error('conflict');
      },
    });
    await expect(refusing.serve(newCall().call)).rejects.toThrow('conflict');
    expect(isCommitted).toBe(false);
  });

  test('gets its parsed body', async () => {
    const schema = z.object({ count: z.number() });
    const served = routeWithBody({
      ...definition,
      schema: { 1: schema, 2: schema },
      serve: async (_call, { count }, _save: Save<number>) => count,
      reply: (count) => ({ status: 200, body: count }),
    });
    expect(await served.serve(newCall({ count: 7 }).call)).toEqual({ status: 200, body: 7 });
    await expect(served.serve(newCall({ count: 'x' }).call)).rejects.toMatchObject({ code: 'validation_error' });
  });
});

test('a route without a reply leaves storing it to the pipeline', async () => {
  const { call, stored } = newCall();
  const plain = route({ ...definition, serve: async () => ({ status: 204 }) });
  expect(await plain.serve(call)).toEqual({ status: 204 });
  expect(stored).toEqual([]);
});
