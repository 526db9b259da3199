import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deliveryIdOf, eventTimeOf, lowestDeliveryId } from '../../src/webhooks/delivery-id.ts';

const event = { webhookId: 'whk_1', runId: 'run_1', sequence: 3, timestamp: 1_780_000_000_000 };

test('the id of a delivery depends on the subscription and the event alone', () => {
  const id = deliveryIdOf(event);
  expect(id).toMatch(/^dlv_[0-9a-z]{26}$/);
  expect(deliveryIdOf({ ...event })).toBe(id);
  const others = [{ webhookId: 'whk_2' }, { runId: 'run_2' }, { sequence: 4 }];
  expect(new Set([id, ...others.map((fields) => deliveryIdOf({ ...event, ...fields }))]).size).toBe(4);
});

test('the ids of deliveries sort by the times of their events', () => {
  const later = deliveryIdOf({ ...event, sequence: 4, timestamp: event.timestamp + 1 });
  expect(deliveryIdOf(event) < later).toBe(true);
});

test('the lowest id of a time separates the ids of earlier events from all others', () => {
  const time = fc.integer({ min: 1, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, (timestamp, bound) => {
      const id = deliveryIdOf({ ...event, timestamp });
      expect(id >= lowestDeliveryId(bound)).toBe(timestamp >= bound);
      expect(eventTimeOf(lowestDeliveryId(bound))).toBe(bound);
    }),
  );
});

test.each(['', 'dlv_', 'dlv_012345678', 'dlv_012345678i', 'dlv_012345678A', 'xdlv_0123456789', 'whk_0123456789'])(
  'the id %j has no time',
  (id) => {
    expect(eventTimeOf(id)).toBeUndefined();
  },
);

test.each([
  [-1, 'dlv_0000000000'],
  [0.9, 'dlv_0000000000'],
  [33, 'dlv_0000000011'],
  [2 ** 48 - 1, 'dlv_7zzzzzzzzz'],
  [2 ** 60, 'dlv_7zzzzzzzzz'],
])('the lowest id of the time %d is %s', (time, id) => {
  expect(lowestDeliveryId(time)).toBe(id);
});
