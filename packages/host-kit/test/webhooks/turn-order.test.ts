import { chance } from '@svc/tools/chance';
import { expect, test } from 'vitest';
import { type RoomForAttempts, TurnOrder } from '../../src/webhooks/turn-order.ts';
import { sampleDelivery } from './samples.ts';

function claimOf(tenant: string, webhookId: string, deliveryId = 'dlv_1') {
  return { delivery: { ...sampleDelivery({ deliveryId, webhookId }), tenant, leaseUntil: 1 }, beginBy: 0 };
}

const anyRoom = roomFor(() => true);

function roomFor(hasRoomFor: RoomForAttempts['hasRoomFor']): RoomForAttempts {
  return { hasRoomForTenant: () => true, hasRoomFor };
}

function drain(order: TurnOrder): readonly string[] {
  const taken: string[] = [];
  for (let next = order.next(anyRoom); next !== undefined; next = order.next(anyRoom)) {
    taken.push(`${next.delivery.tenant}/${next.delivery.webhookId}`);
  }
  return taken;
}

test('tenants take turns, and the subscriptions of each', () => {
  const order = new TurnOrder();
  for (const webhookId of ['1', '1', '2', '3']) order.add(claimOf('a', webhookId));
  for (const webhookId of ['1', '2']) order.add(claimOf('b', webhookId));
  expect(drain(order)).toEqual(['a/1', 'b/1', 'a/2', 'b/2', 'a/3', 'a/1']);
});

test('a subscription without room is passed over, and keeps its turn', () => {
  const order = new TurnOrder();
  for (const webhookId of ['1', '2']) order.add(claimOf('a', webhookId));
  order.add(claimOf('b', '1'));
  const onlyA2 = roomFor(({ tenant, webhookId }) => tenant === 'a' && webhookId === '2');
  expect(order.next(onlyA2)?.delivery.webhookId).toBe('2');
  expect(order.next(roomFor(({ tenant }) => tenant === 'c'))).toBeUndefined();
  expect(drain(order)).toEqual(['b/1', 'a/1']);
});

test('removed claims have no turn', () => {
  const order = new TurnOrder();
  for (const webhookId of ['1', '2', '1']) order.add(claimOf('a', webhookId));
  expect(order.remove(({ delivery }) => delivery.webhookId === '1').length).toBe(2);
  expect([order.size, order.countOf('a'), drain(order)]).toEqual([1, 1, ['a/2']]);
  expect([order.size, order.countOf('a')]).toEqual([0, 0]);
});

test.each(Array.from({ length: 50 }, (_, seed) => seed))(
  'no tenant waits for two turns of another, seed %i',
  (seed) => {
    const luck = chance(seed);
    const order = new TurnOrder();
    const tenants = 2 + luck.below(6);
    /** The turns of the others since a tenant began to wait, or had its last turn. */
    const turnsSince = new Map<string, Map<string, number>>();
    for (let step = 0; step < 400; step++) {
      // The first tenant floods.
      const tenant = `tenant ${luck.happens(0.5) ? 0 : luck.below(tenants)}`;
      for (let count = luck.below(4); count > 0; count--) {
        if (order.countOf(tenant) === 0) turnsSince.set(tenant, new Map());
        order.add(claimOf(tenant, `whk_${luck.below(20)}`, `dlv_${step}_${count}`));
      }
      if (luck.happens(0.3)) continue;
      const served = order.next(anyRoom)?.delivery.tenant;
      if (served === undefined) continue;
      for (const [waiting, turns] of turnsSince) {
        if (waiting !== served) turns.set(served, (turns.get(served) ?? 0) + 1);
        expect(Math.max(0, ...turns.values())).toBeLessThanOrEqual(1);
      }
      if (order.countOf(served) === 0) turnsSince.delete(served);
      else turnsSince.set(served, new Map());
    }
  },
);
