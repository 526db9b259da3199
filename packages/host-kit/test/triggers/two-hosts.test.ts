import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import type { Transaction } from '../../src/ports/transaction.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const MESSAGES = 40;

async function twoHosts(): Promise<readonly [TriggerHost, TriggerHost]> {
  const open = () => postgresStore({ url: postgres.url, schema: 'triggers', connections: 6 });
  const rate = { limit: 100_000, windowSeconds: 60 };
  const triggers = { perClient: rate, perTrigger: rate };
  // The keys are imported by the first host.
  const first = await triggerHost({ store: await open(), triggers });
  return [first, await triggerHost({ store: await open(), triggers })];
}

describe(covers('triggers.message.dedup', 'triggers.message.durable'), () => {
  test('two hosts that get each message at once, twice and in any order start one run for each', async () => {
    const [one, other] = await twoHosts();
    try {
      const { triggerId } = await one.register({}, 'operator');
      const sent = Array.from({ length: MESSAGES }, (_, n) => ({ order: `order-${n}` }));
      const answers = await Promise.all(
        [...sent, ...sent.toReversed()].flatMap((message) =>
          [one, other].map(async (host) => ({ message, ...(await host.send(triggerId, message)) })),
        ),
      );
      for (const { status, body } of answers)
        expect([status, body.outcome]).toEqual([body.repeated ? 200 : 202, 'delivered']);
      for (const { order } of sent) {
        const group = answers.filter(({ message }) => message.order === order);
        expect(new Set(group.map(({ body }) => body.runId)).size).toBe(1);
        expect(group.filter(({ body }) => !body.repeated)).toHaveLength(1);
      }
      expect(await one.runs()).toHaveLength(MESSAGES);
    } finally {
      await Promise.all([one.host.stop(0), other.host.stop(0)]);
    }
  });

  test('messages that arrive together after a failure do not wait for each other in a circle', async () => {
    const [one, other] = await twoHosts();
    try {
      const { triggerId } = await one.register({}, 'operator');
      const fail = (transaction: Transaction) =>
        one.store.triggers.change(triggerId, (trigger) => ({ ...trigger, failures: 1 }), transaction);
      for (const round of [1, 2, 3]) {
        await one.store.transaction(fail);
        const sent = Array.from({ length: 12 }, (_, n) => ({ order: `failed-${round}-${n}` }));
        const answers = await Promise.all(
          sent.flatMap((message) => [one.send(triggerId, message), other.send(triggerId, message)]),
        );
        for (const { body } of answers) expect(body.outcome).toBe('delivered');
      }
      expect((await one.store.triggers.read(triggerId))?.failures).toBe(0);
    } finally {
      await Promise.all([one.host.stop(0), other.host.stop(0)]);
    }
  });

  test('messages that wait are started once, by whichever host is first, and none after a removal', async () => {
    const [one, other] = await twoHosts();
    try {
      const before = (await one.runs()).length;
      const { triggerId } = await one.register({}, 'operator');
      const path = `/host/example/triggers/${triggerId}`;
      await one.call('operator', 'POST', `${path}/pause`);
      const sent = Array.from({ length: 10 }, (_, n) => ({ order: `waiting-${n}` }));
      for (const message of sent) expect((await other.send(triggerId, message)).body.outcome).toBe('retrying');
      await other.call('operator', 'POST', `${path}/resume`);
      const outcomes = async () => {
        for (const { clock } of [one, other]) clock.advance(1000);
        const { body } = await one.call('operator', 'GET', `${path}/messages`);
        return body.messages.map(({ outcome }: { outcome: string }) => outcome);
      };
      await expect.poll(outcomes, { timeout: 60_000 }).toEqual(sent.map(() => 'delivered'));
      expect((await one.runs()).length - before).toBe(sent.length);
      await one.call('operator', 'DELETE', path);
      expect((await other.send(triggerId, { order: 'late' })).status).toBe(404);
      expect((await one.runs()).length - before).toBe(sent.length);
    } finally {
      await Promise.all([one.host.stop(0), other.host.stop(0)]);
    }
  });
});
