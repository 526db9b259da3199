import { describe, expect, test } from 'vitest';
import { concurrencyOf } from '../../src/webhooks/concurrency.ts';
import { Lanes } from '../../src/webhooks/lanes.ts';
import { Places } from '../../src/webhooks/places.ts';
import { SharedPlaces } from '../../src/webhooks/shared-places.ts';

const TIMEOUT = { kind: 'failed', reason: 'timeout', durationMs: 5000 } as const;
const ANSWER = { kind: 'answered', status: 500, retryAfter: undefined, durationMs: 4 } as const;

/** Lets tenants take places in turn until none of them has room. Returns the places of the first one. */
function fill(places: SharedPlaces, tenants: number): number {
  const names = Array.from({ length: tenants }, (_, index) => `greedy ${index}`);
  for (let isTaken = true; isTaken; ) {
    isTaken = false;
    for (const name of names) {
      if (!places.hasRoomFor(name)) continue;
      places.take(name);
      isTaken = true;
    }
  }
  return places.takenBy('greedy 0');
}

describe('places that tenants share', () => {
  test.each([
    // [total, perTenant, greedy tenants, places of each, free places]
    [64, 48, 1, 48, 16],
    [64, 48, 2, 28, 9],
    [64, 48, 10, 7, 2],
    [64, 64, 1, 64, 0],
    [2, 1, 1, 1, 1],
    [1, 1, 1, 1, 0],
  ])('%i places, %i for one tenant: %i greedy tenants take %i each', (total, perTenant, tenants, each, free) => {
    const places = new SharedPlaces({ total, perTenant });
    expect(fill(places, tenants)).toBe(each);
    expect(places.free).toBe(free);
    expect(places.hasRoomFor('newcomer')).toBe(free > 0);
  });

  test('many tenants with one attempt each use all places', () => {
    const places = new SharedPlaces({ total: 64, perTenant: 48 });
    for (let tenant = 0; places.hasRoomFor(`tenant ${tenant}`); tenant++) places.take(`tenant ${tenant}`);
    expect(places.free).toBe(0);
  });

  test('a place that is given back can be taken again', () => {
    const places = new SharedPlaces({ total: 2, perTenant: 1 });
    places.take('a');
    expect(places.hasRoomFor('a')).toBe(false);
    places.giveBack('a');
    expect([places.hasRoomFor('a'), places.free]).toEqual([true, 2]);
  });
});

describe('the lanes of subscriptions', () => {
  const LIMITS = concurrencyOf({ total: 64, perSubscription: 4 });
  const of = (webhookId: string, tenant = 'acme') => ({ tenant, webhookId });

  test('a subscription has one place after a time-out, and all of its own once an attempt ends in time', () => {
    const lanes = new Lanes();
    const places = new Places(LIMITS, lanes);
    lanes.ended('whk_1', TIMEOUT);
    const place = places.take(of('whk_1'));
    expect([place.lane, places.hasRoomFor(of('whk_1'))]).toEqual(['slow', false]);
    lanes.ended('whk_1', undefined);
    expect(places.hasRoomFor(of('whk_1'))).toBe(false);
    lanes.ended('whk_1', ANSWER);
    expect([places.take(of('whk_1')).lane, places.hasRoomFor(of('whk_1'))]).toEqual(['regular', true]);
  });

  test('slow subscriptions of a tenant leave half of its places to the others', () => {
    const lanes = new Lanes();
    const places = new Places(LIMITS, lanes);
    const slow = Array.from({ length: 100 }, (_, index) => of(`whk_${index}`));
    for (const { webhookId } of slow) lanes.ended(webhookId, TIMEOUT);
    const begun = slow.filter((each) => places.hasRoomFor(each) && places.take(each));
    expect(begun.length).toBe(24);
    expect(places.hasRoomFor(of('whk_regular'))).toBe(true);
    lanes.ended('whk_other', TIMEOUT);
    expect(places.hasRoomFor(of('whk_other', 'globex'))).toBe(true);
  });

  test('a place is given back once, however often its attempt says so', () => {
    const places = new Places({ total: 2, perTenant: 2, perSubscription: 2 }, new Lanes());
    const [first] = [places.take(of('whk_1')), places.take(of('whk_1'))];
    first?.giveBack();
    first?.giveBack();
    places.take(of('whk_1'));
    expect(places.hasRoomFor(of('whk_1'))).toBe(false);
  });

  test('each change of a lane is told once', () => {
    const changes: string[] = [];
    const lanes = new Lanes((from, to) => changes.push(`${from} to ${to}`));
    for (const verdict of [ANSWER, TIMEOUT, TIMEOUT, ANSWER, ANSWER]) lanes.ended('whk_1', verdict);
    lanes.ended('whk_2', TIMEOUT);
    lanes.forget('whk_2');
    expect(changes).toEqual(['regular to slow', 'slow to regular', 'regular to slow', 'slow to regular']);
  });

  test('at most 10 000 slow subscriptions are remembered', () => {
    const lanes = new Lanes();
    for (let index = 0; index <= 10_000; index++) lanes.ended(`whk_${index}`, TIMEOUT);
    expect([lanes.of('whk_0'), lanes.of('whk_1'), lanes.of('whk_10000')]).toEqual(['regular', 'slow', 'slow']);
  });
});

describe('webhooks.concurrency', () => {
  test.each([
    [{ total: 64, perSubscription: 4 }, 48],
    [{ total: 1, perSubscription: 1 }, 1],
    [{ total: 2, perSubscription: 4 }, 1],
    [{ total: 8, perTenant: 8, perSubscription: 4 }, 8],
  ])('%o: %i places for one tenant', (asked, perTenant) => {
    expect(concurrencyOf(asked)).toEqual({ ...asked, perTenant });
  });

  test.each([
    [{ total: 0, perSubscription: 4 }, 'webhooks.concurrency.total: must be a whole number of at least 1.'],
    [{ total: 8, perSubscription: 1.5 }, 'webhooks.concurrency.perSubscription: must be a whole number'],
    [{ total: 8, perTenant: 0, perSubscription: 4 }, 'webhooks.concurrency.perTenant: must be a whole number'],
    [
      { total: 8, perTenant: 9, perSubscription: 4 },
      'webhooks.concurrency.perTenant: must be at most total, which is 8.',
    ],
  ])('%o is refused', (asked, message) => {
    expect(() => concurrencyOf(asked)).toThrow(message);
  });
});
