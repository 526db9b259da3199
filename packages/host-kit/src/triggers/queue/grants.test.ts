import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import type { QueueConnection, QueueConsumer, QueueGrant } from '../../ports/queues.ts';
import { postgresQueues, postgresQueueTable } from '../../queues/postgres/index.ts';
import { queueGrants } from './grants.ts';

// No connection is made before a queue is consumed.
const consumer: QueueConsumer = postgresQueues({ url: 'postgres://127.0.0.1:1/none' });
const connection = (grants: readonly QueueGrant[], prefetch?: number): QueueConnection => ({
  ...{ consumer, grants },
  ...(prefetch !== undefined && { prefetch }),
});

describe(covers('triggers.queue.grants'), () => {
  const grants = queueGrants({
    shop: connection([
      { tenant: 'acme', queues: ['orders', 'returns'] },
      { tenant: 'acme', mode: 'test', queues: ['trials'] },
    ]),
    other: connection([{ tenant: 'umbrella', queues: ['orders'] }]),
  });

  test.each<[string, 'live' | 'test', string, string, boolean]>([
    ['acme', 'live', 'shop', 'orders', true],
    ['acme', 'live', 'shop', 'returns', true],
    ['acme', 'test', 'shop', 'trials', true],
    ['umbrella', 'live', 'other', 'orders', true],
    ['acme', 'test', 'shop', 'orders', false],
    ['acme', 'live', 'shop', 'trials', false],
    ['acme', 'live', 'other', 'orders', false],
    ['umbrella', 'live', 'shop', 'orders', false],
    ['acme', 'live', 'shop', 'Orders', false],
    ['acme', 'live', 'none', 'orders', false],
  ])('%s in mode %s on %s may consume %s: %s', (tenant, mode, name, queue, expected) => {
    expect(grants.allows({ tenant, mode }, { connection: name, name: queue })).toBe(expected);
  });

  test.each<[string, readonly QueueGrant[], number | undefined]>([
    [
      'granted twice',
      [
        { tenant: 'a', queues: ['q'] },
        { tenant: 'b', queues: ['q'] },
      ],
      undefined,
    ],
    ['has no queue', [{ tenant: 'a', queues: [] }], undefined],
    ['prefetch', [], 0],
    ['prefetch', [], 1001],
    ['prefetch', [], 1.5],
  ])('a connection whose options are wrong is refused: %s', (problem, given, prefetch) => {
    expect(() => queueGrants({ shop: connection(given, prefetch) })).toThrow(problem);
  });
});

describe('a table of queues', () => {
  test.each(['svc_queue', 'shop.orders', '_q1'])('may have the name %s', (table) => {
    expect(postgresQueueTable(table)).toContain(`"${table.replace('.', '"."')}"`);
  });

  test.each(['', 'Orders', 'a b', 'a"b', 'a.b.c', '1a', 'a;drop', 'x'.repeat(51)])(
    'has another name than %j',
    (table) => {
      expect(() => postgresQueueTable(table)).toThrow('table: must be a name');
      expect(() => postgresQueues({ url: 'postgres://127.0.0.1:1/none', table })).toThrow('table: must be a name');
    },
  );

  test.each([{ connections: 0 }, { pollMs: 1 }])('has no consumer with %j', (wrong) => {
    expect(() => postgresQueues({ url: 'postgres://127.0.0.1:1/none', ...wrong })).toThrow(TypeError);
  });
});
