import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { triggerHost } from './trigger-host.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const SCHEDULES = 40;

describe(covers('triggers.schedule.once'), () => {
  test('of three hosts that find each occurrence at once, one starts its run, also when the database goes away meanwhile', async () => {
    const open = () => postgresStore({ url: postgres.url, schema: 'schedules', connections: 4 });
    const first = await triggerHost({ store: await open() });
    const hosts = [first, await triggerHost({ store: await open() }), await triggerHost({ store: await open() })];
    try {
      const mapping = { workflowId: 'echo', inputs: { delivery: { pointer: '/id' } } };
      const yearly = { source: 'schedule', schedule: { cron: '0 0 1 1 *' }, webhook: undefined, secret: undefined };
      const ids: string[] = [];
      for (let n = 0; n < SCHEDULES; n++)
        ids.push((await first.register({ ...yearly, mapping }, 'operator')).triggerId);
      // The clock of the database counts, and it cannot be moved: the occurrence is.
      const now = (await first.store.time?.()) ?? 0;
      const next = { scheduledAt: now - 1000, fireAt: now - 1000 };
      for (const triggerId of ids) {
        await first.store.transaction((transaction) =>
          first.store.triggers.change(
            triggerId,
            (trigger) => (trigger.source === 'schedule' ? { ...trigger, next } : undefined),
            transaction,
          ),
        );
      }
      for (const { clock } of hosts) clock.advance(1000);
      await first.store.time?.();
      await postgres.crash('SIGQUIT');
      const outcomes = async () => {
        for (const { clock } of hosts) clock.advance(6000);
        const found = [];
        for (const triggerId of ids) {
          const messages = await first.store.triggers
            .messages(triggerId, { before: undefined, limit: 9, now: 0 })
            .catch(() => []);
          found.push(messages.map(({ outcome }) => outcome).join());
        }
        return new Set(found);
      };
      await expect.poll(outcomes, { timeout: 90_000, interval: 50 }).toEqual(new Set(['delivered']));
      expect(await first.runs()).toHaveLength(SCHEDULES);
      // A run is stored with its message, and executed after that: at once, or by another host when the lease has ended.
      const executed = () => {
        for (const { clock } of hosts) clock.advance(1000);
        return new Set(hosts.flatMap(({ engine }) => engine.executed.map(({ runId }) => runId))).size;
      };
      await expect.poll(executed, { timeout: 60_000 }).toBe(SCHEDULES);
    } finally {
      await Promise.all(hosts.map(({ host }) => host.stop(0)));
    }
  }, 150_000);
});
