import { expect, test, vi } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { triggerHost } from './trigger-host.ts';

test('messages that fail in each round do not hold back those behind them', async () => {
  const inner = memoryStore();
  let broken: string | undefined;
  const read = async (triggerId: string) => {
    if (triggerId === broken) throw new Error('The row is damaged.');
    return inner.triggers.read(triggerId);
  };
  const rate = { limit: 100_000, windowSeconds: 60 };
  const world = await triggerHost({
    store: { ...inner, triggers: { ...inner.triggers, read } },
    triggers: { perClient: rate, perTrigger: rate },
  });
  try {
    const [damaged, sound] = [(await world.register()).triggerId, (await world.register()).triggerId];
    const operate = (triggerId: string, operation: 'pause' | 'resume') =>
      world.call('owner', 'POST', `/host/example/triggers/${triggerId}/${operation}`);
    for (const triggerId of [damaged, sound]) await operate(triggerId, 'pause');
    // A round attempts a hundred at once.
    for (let n = 0; n < 120; n++) await world.send(damaged, { order: n });
    await world.send(sound, { order: 'behind' });
    broken = damaged;
    for (const triggerId of [damaged, sound]) await operate(triggerId, 'resume');
    await vi.waitFor(
      () => {
        world.clock.advance(1000);
        expect(world.engine.executed.map(({ inputs }) => inputs)).toEqual([{ order: 'behind', origin: 'shop' }]);
      },
      { timeout: 60_000, interval: 5 },
    );
    broken = undefined;
    await vi.waitFor(
      () => {
        world.clock.advance(10_000);
        expect(world.engine.executed).toHaveLength(121);
      },
      { timeout: 60_000, interval: 5 },
    );
  } finally {
    await world.host.stop(0);
  }
}, 180_000);
