import { describe, expect, test } from 'vitest';
import { canonicalEventName, EVENT_RENAMES, eventName } from './event-names.ts';

describe('the name of an event', () => {
  test.each(EVENT_RENAMES)('%s of major 1 is %s of major 2', (v1, v2) => {
    expect([eventName(1, v2), eventName(2, v2)]).toEqual([v1, v2]);
    expect([canonicalEventName(1, v1), canonicalEventName(2, v2)]).toEqual([v2, v2]);
    expect([canonicalEventName(1, v2), canonicalEventName(2, v1)], 'of the other major').toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each(['run.started', 'acme.order-paid', '', 'toString', 'constructor', '__proto__'])(
    '%s is the same in both majors',
    (name) => {
      for (const major of [1, 2] as const) {
        expect(eventName(major, name)).toBe(name);
        expect(canonicalEventName(major, name)).toBe(name);
      }
    },
  );
});
