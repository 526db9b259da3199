import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { recording } from '../telemetry/recording.ts';
import { triggerHost } from './trigger-host.ts';

describe(covers('triggers.message.dead-letters'), () => {
  test('the oldest dead letter goes with each one beyond the bound, and the audit log tells it', async () => {
    const world = await triggerHost({ store: memoryStore(), triggers: { maxDeadLetters: 3 } });
    try {
      const [triggerId, other] = [(await world.register()).triggerId, (await world.register()).triggerId];
      const letter = async (target: string, n: number) => {
        world.clock.advance(10);
        const { body } = await world.send(target, { n });
        expect(body.outcome).toBe('dead-lettered');
        return body.deliveryId;
      };
      await letter(other, 0);
      const ids = [];
      for (let n = 0; n < 5; n++) ids.push(await letter(triggerId, n));
      const listed = async (target: string) =>
        (await world.call('owner', 'GET', `/host/example/triggers/${target}/messages`)).body.messages;
      const left = (await listed(triggerId)).map(({ deliveryId }: { deliveryId: string }) => deliveryId);
      expect(left).toEqual(ids.slice(2).reverse());
      expect(await listed(other)).toHaveLength(1);
      const dropped = (await world.facts('trigger.dead-letter')).map(({ details }) => details.dropped);
      expect(dropped).toEqual([undefined, undefined, undefined, undefined, 1, 1]);
    } finally {
      await world.host.stop(0);
    }
  });

  test('a clock of the machine that is set back keeps the newest dead letters', async () => {
    const world = await triggerHost({ store: memoryStore(), triggers: { maxDeadLetters: 2 } });
    try {
      const { triggerId } = await world.register();
      const ids = [];
      for (let n = 0; n < 5; n++) {
        if (n === 3) world.clock.set(-86_400_000);
        world.clock.advance(10);
        ids.push((await world.send(triggerId, { n })).body.deliveryId);
      }
      const { body } = await world.call('owner', 'GET', `/host/example/triggers/${triggerId}/messages`);
      const left = body.messages.map(({ deliveryId }: { deliveryId: string }) => deliveryId);
      expect(left).toEqual(ids.slice(3).reverse());
    } finally {
      await world.host.stop(0);
    }
  });

  test.each([0, -1, 1.5, Number.NaN])('a bound of %d is rejected', async (maxDeadLetters) => {
    await expect(triggerHost({ store: memoryStore(), triggers: { maxDeadLetters } })).rejects.toThrow(
      'createHost: features.triggers.maxDeadLetters must be a whole number',
    );
  });
});

test('outcomes of messages are counted by source and outcome, and by no text of a sender', async () => {
  const { telemetry, series } = recording();
  const world = await triggerHost({ store: memoryStore(), more: { ports: { telemetry } } });
  try {
    const { triggerId } = await world.register({ webhook: { preset: 'github', types: ['push'] } });
    const path = `/host/example/triggers/${triggerId}`;
    await world.send(triggerId, { order: 1 });
    await world.send(triggerId, { order: 1 });
    await world.send(triggerId, { n: 1 });
    await world.send(triggerId, { order: 2 }, { headers: { 'x-github-event': 'issues' } });
    await world.send(triggerId, { order: 3 }, { secret: 'another secret of a sender' });
    await world.call('owner', 'POST', `${path}/pause`);
    await world.send(triggerId, { order: 4 });
    const of = (outcome: string) => ({
      attributes: { 'svc.trigger.source': 'webhook', 'svc.trigger.outcome': outcome },
      value: 1,
    });
    const counted = await series('svc.trigger.messages');
    expect(counted).toHaveLength(5);
    for (const outcome of ['delivered', 'repeated', 'dead-lettered', 'ignored', 'retrying'])
      expect(counted).toContainEqual(of(outcome));
    expect(await series('svc.trigger.waiting')).toEqual([{ attributes: {}, value: 1 }]);
    expect(await series('svc.trigger.dead_letters')).toEqual([{ attributes: {}, value: 1 }]);
  } finally {
    await world.host.stop(0);
  }
});
