import { expect, test } from 'vitest';
import { deliveryIdOf } from '../../src/webhooks/delivery-id.ts';

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
