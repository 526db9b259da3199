import { covers } from '@svc/tools/covers';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { EVENT_TYPES_V1, EVENT_TYPES_V2 } from '../src/events/index.ts';
import { type UnknownEvent, Webhook, type WebhookEvent } from '../src/index.ts';
import { testDelivery } from '../src/testing/index.ts';

describe(covers('events.shape.known-types'), () => {
  test('the types of both vocabularies narrow an event', () => {
    const read = (event: WebhookEvent): unknown => {
      switch (event.type) {
        case 'run.failed':
          expectTypeOf(event.payload.error.message).toEqualTypeOf<string>();
          return event.payload;
        case 'run.completed':
          expectTypeOf(event.payload).not.toBeAny();
          return event.payload;
        default:
          return undefined;
      }
    };
    const payload = { error: { code: 'c', message: 'm' } };
    expect(read(new Webhook(secret).verify(...sent('run.failed', payload)).event)).toEqual(payload);
  });

  test('a payload that differs between the majors narrows to the form of one', () => {
    const titleOf = ({ payload, type }: WebhookEvent): unknown => {
      if (type !== 'approval.requested') return undefined;
      expectTypeOf(payload.nodeId).toEqualTypeOf<string | undefined>();
      if (payload.data === undefined) {
        expectTypeOf(payload.nodeId).toEqualTypeOf<string>();
        expectTypeOf(payload.key).toEqualTypeOf<undefined>();
        return payload.title;
      }
      expectTypeOf(payload.key).toEqualTypeOf<string>();
      expectTypeOf(payload.nodeId).toEqualTypeOf<undefined>();
      return payload.data.title;
    };
    const first = { nodeId: 'gate', artifactId: 'a', artifactType: 'text', actions: ['accept'], title: 'one' };
    const second = { kind: 'approval', key: 'publish', data: { title: 'two' } };
    const titles = [first, second].map((payload) =>
      titleOf(new Webhook(secret).verify(...sent('approval.requested', payload)).event),
    );
    expect(titles).toEqual(['one', 'two']);
  });

  test('an unknown type passes, with an unknown payload', () => {
    const { event } = new Webhook(secret).verify(...sent('run.teleported', 1));
    switch (event.type) {
      case 'run.failed':
        return expect.unreachable();
      default:
        expectTypeOf<UnknownEvent['payload']>().toBeUnknown();
        expect([event.type, event.payload]).toEqual(['run.teleported', 1]);
    }
  });

  test('the names of both vocabularies are exported', () => {
    for (const types of [EVENT_TYPES_V1, EVENT_TYPES_V2]) {
      expect(types.size).toBeGreaterThan(50);
    }
  });
});

const secret = 'a secret of the tests';

function sent(type: string, payload: unknown): [string, Readonly<Record<string, string>>] {
  const { body, headers } = testDelivery({ secret, type, payload });
  return [body, headers];
}
