import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Occurrence } from '../../src/ports/triggers.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { manualClock } from '../streams/manual-clock.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-schedules-'));
let world: TriggerHost;
let isFull = false;

beforeAll(async () => {
  const store = sqliteStore(join(folder, 'svc.db'));
  const countWaiting = async (triggerId: string, limit: number) =>
    isFull ? limit : store.triggers.countWaiting(triggerId, limit);
  world = await triggerHost({
    store: { ...store, triggers: { ...store.triggers, countWaiting } },
    clock: manualClock(Date.parse('2026-03-06T12:30:00Z')),
  });
});
afterAll(async () => {
  await world.host.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

const HOURLY = {
  ...{ source: 'schedule', webhook: undefined, secret: undefined },
  mapping: { workflowId: 'echo', inputs: { at: { pointer: '/scheduledAt' }, delivery: { pointer: '/id' } } },
};

async function registered(schedule: object = {}, more: object = {}) {
  return world.register({ ...HOURLY, ...more, schedule: { cron: '0 * * * *', ...schedule } });
}

const pathOf = (triggerId: string) => `/host/example/triggers/${triggerId}`;

async function viewOf(triggerId: string) {
  return (await world.call('owner', 'GET', pathOf(triggerId))).body;
}

/** The times of the occurrences whose messages the host has, the oldest first. */
async function messagesOf(triggerId: string) {
  const { body } = await world.call('operator', 'GET', `${pathOf(triggerId)}/messages?limit=200`);
  return body.messages.toReversed();
}

/** The inputs of the runs of a trigger, by its messages. */
async function startedBy(triggerId: string): Promise<readonly string[]> {
  const ids = new Set((await messagesOf(triggerId)).map(({ runId }: { runId?: string }) => runId?.split('/')[1]));
  const inputs = world.engine.executed.filter(({ runId }) => ids.has(runId)).map((run) => JSON.stringify(run.inputs));
  return inputs.map((text) => JSON.parse(text).at).sort();
}

/** Lets the periodic tasks make rounds, a second apart, until a condition holds. */
async function eventually(condition: () => Promise<void>): Promise<void> {
  await vi.waitFor(
    async () => {
      world.clock.advance(1000);
      await condition();
    },
    { timeout: 60_000, interval: 5 },
  );
}

/** Lets the periodic tasks make some rounds. */
async function rounds(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    world.clock.advance(1000);
    await world.store.probe();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The time of the next full hour, after `hours` more. */
function fullHour(hours = 0): string {
  return new Date((Math.floor(world.clock.now() / HOUR_MS) + 1 + hours) * HOUR_MS).toISOString();
}

const toNextHour = () => world.clock.advance(HOUR_MS - (world.clock.now() % HOUR_MS));

describe(covers('triggers.subscription.registration', 'triggers.schedule.once'), () => {
  test('a schedule starts one run for each occurrence, with the time that it names', async () => {
    const { triggerId, subscription, binding, secret } = await registered();
    expect(subscription).toEqual({
      subscriptionId: `acme/${triggerId}`,
      ...{ source: 'schedule', state: 'active', dedupEnabled: true },
      retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
    });
    expect([binding, secret]).toEqual([{}, undefined]);
    const due = fullHour();
    const view = await viewOf(triggerId);
    expect(view.schedule).toEqual({ cron: '0 * * * *', timeZone: 'UTC', missed: 'skip', jitterSeconds: 0 });
    expect([view.nextFireAt, view.ingestUrl, view.webhook]).toEqual([due, undefined, undefined]);
    await rounds();
    expect(await messagesOf(triggerId)).toEqual([]);
    toNextHour();
    await eventually(async () => expect(await startedBy(triggerId)).toEqual([due]));
    const [message] = await messagesOf(triggerId);
    expect(message).toMatchObject({ outcome: 'delivered', attempts: 1 });
    const run = (await world.runs()).find(({ runId }) => message.runId.endsWith(runId));
    expect(run).toMatchObject({ causationId: message.deliveryId.split('/')[1], owner: { principal: 'p_owner' } });
    const next = fullHour();
    expect((await viewOf(triggerId)).nextFireAt).toBe(next);
    await rounds();
    expect(await startedBy(triggerId)).toEqual([due]);
    toNextHour();
    await eventually(async () => expect(await startedBy(triggerId)).toEqual([due, next]));
  });

  test.each([
    ['no schedule', { schedule: undefined }, 'schedule'],
    ['an expression of six fields', { schedule: { cron: '0 0 * * * *' } }, 'schedule.cron'],
    ['an expression out of range', { schedule: { cron: '0 25 * * *' } }, 'schedule.cron'],
    ['an expression without an occurrence', { schedule: { cron: '0 0 30 2 *' } }, 'schedule.cron'],
    ['an unknown time zone', { schedule: { cron: '0 0 * * *', timeZone: 'Mars/Base' } }, 'schedule.timeZone'],
    ['an offset as time zone', { schedule: { cron: '0 0 * * *', timeZone: '+01:00' } }, 'schedule.timeZone'],
    ['a long jitter', { schedule: { cron: '0 0 * * *', jitterSeconds: 3601 } }, 'schedule.jitterSeconds'],
    ['another policy', { schedule: { cron: '0 0 * * *', missed: 'some' } }, 'schedule.missed'],
    ['a secret', { schedule: { cron: '0 0 * * *' }, secret: 'a secret of a sender' }, 'secret'],
    ['rules of another source', { schedule: { cron: '0 0 * * *' }, webhook: { preset: 'github' } }, 'webhook'],
  ])('%s is rejected', async (_name, fields, field) => {
    const body = { source: 'schedule', mapping: { workflowId: 'echo' }, ...fields };
    const answer = await world.call('owner', 'POST', '/trigger-subscriptions', body);
    expect([answer.status, answer.body.error]).toEqual([400, 'validation_error']);
    expect(JSON.stringify(answer.body.details)).toContain(field);
  });

  test('a schedule takes no message from outside, and has no secret to rotate', async () => {
    const { triggerId } = await registered();
    expect((await world.send(triggerId, { order: 1 })).status).toBe(404);
    expect((await world.call('owner', 'POST', `${pathOf(triggerId)}/rotate-secret`, {})).status).toBe(400);
    const tried = await world.call('owner', 'POST', `${pathOf(triggerId)}/try`, {});
    expect(tried.body).toMatchObject({ would: 'start', inputs: { at: fullHour() } });
  });

  test('an occurrence fires later by its jitter, and never earlier', async () => {
    const { triggerId } = await registered({ jitterSeconds: 1800 });
    const due = fullHour();
    const { nextFireAt } = await viewOf(triggerId);
    expect(Date.parse(nextFireAt)).toBeGreaterThanOrEqual(Date.parse(due));
    world.clock.advance(Date.parse(nextFireAt) - world.clock.now() - 10_000);
    await rounds();
    expect(await messagesOf(triggerId)).toEqual([]);
    world.clock.advance(10_000);
    await eventually(async () => expect(await startedBy(triggerId)).toEqual([due]));
  });

  test('a clock of the machine that is set neither fires an occurrence nor moves it', async () => {
    const { triggerId } = await registered();
    const { nextFireAt } = await viewOf(triggerId);
    world.clock.set(-48 * HOUR_MS);
    await rounds();
    world.clock.set(96 * HOUR_MS);
    await rounds();
    expect(await messagesOf(triggerId)).toEqual([]);
    world.clock.set(-48 * HOUR_MS);
    expect((await viewOf(triggerId)).nextFireAt).toBe(nextFireAt);
    toNextHour();
    await eventually(async () => expect(await startedBy(triggerId)).toEqual([nextFireAt]));
  });
});

describe(covers('triggers.schedule.missed'), () => {
  test('occurrences of an outage are skipped, fired once, or all fired', async () => {
    const [skip, once, all] = await Promise.all(
      ['skip', 'once', 'all'].map(async (missed) => (await registered({ missed })).triggerId),
    );
    const [first, second, third] = [fullHour(0), fullHour(1), fullHour(2)];
    toNextHour();
    world.clock.advance(2.5 * HOUR_MS);
    await eventually(async () => expect(await startedBy(all ?? '')).toEqual([first, second, third]));
    await eventually(async () => expect(await startedBy(once ?? '')).toEqual([third]));
    await rounds();
    expect(await startedBy(skip ?? '')).toEqual([]);
    for (const triggerId of [skip, once, all]) expect((await viewOf(triggerId ?? '')).nextFireAt).toBe(fullHour());
    const facts = (await world.facts('trigger.skip')).filter(({ target }) => target !== `acme/${all}`);
    const targets = facts.map(({ target, details }) => [target, details.cause, details.from]);
    expect(targets).toContainEqual([`acme/${skip}`, 'missed', first]);
    expect(targets).toContainEqual([`acme/${once}`, 'missed', first]);
  });

  test('an occurrence is skipped when too many messages of the trigger wait', async () => {
    const { triggerId } = await registered({ cron: '17 * * * *' });
    isFull = true;
    try {
      world.clock.advance(HOUR_MS);
      await eventually(async () => {
        const facts = (await world.facts('trigger.skip')).filter(({ target }) => target === `acme/${triggerId}`);
        expect(facts.length).toBeGreaterThan(0);
      });
      expect(await messagesOf(triggerId)).toEqual([]);
    } finally {
      isFull = false;
    }
  });
});

describe(covers('triggers.schedule.paused'), () => {
  test('a paused schedule skips its occurrences, and a resumed one goes on with the next', async () => {
    const { triggerId } = await registered({ missed: 'all' });
    const paused = await world.call('owner', 'POST', `${pathOf(triggerId)}/pause`);
    expect([paused.body.state, paused.body.nextFireAt]).toEqual(['paused', undefined]);
    world.clock.advance(5 * HOUR_MS);
    await rounds();
    const resumed = await world.call('owner', 'POST', `${pathOf(triggerId)}/resume`);
    const due = fullHour();
    expect([resumed.body.state, resumed.body.nextFireAt]).toEqual(['active', due]);
    expect((await world.call('owner', 'POST', `${pathOf(triggerId)}/resume`)).body.nextFireAt).toBe(due);
    await rounds();
    expect(await messagesOf(triggerId)).toEqual([]);
    toNextHour();
    await eventually(async () => expect(await startedBy(triggerId)).toEqual([due]));
  });

  test('an edit of the schedule replaces its next occurrence, also while it is paused', async () => {
    const { triggerId } = await registered();
    const edit = (body: object) => world.call('owner', 'PATCH', pathOf(triggerId), body);
    const { body } = await edit({ schedule: { cron: '30 * * * *' } });
    expect(body.nextFireAt).toMatch(/:30:00.000Z$/);
    await world.call('owner', 'POST', `${pathOf(triggerId)}/pause`);
    expect((await edit({ schedule: { cron: '45 * * * *' } })).body.nextFireAt).toBe(undefined);
    const resumed = await world.call('owner', 'POST', `${pathOf(triggerId)}/resume`);
    expect(resumed.body.nextFireAt).toMatch(/:45:00.000Z$/);
    expect((await edit({ description: 'every hour' })).body.nextFireAt).toBe(resumed.body.nextFireAt);
    for (const wrong of [{ types: ['push'] }, { form: { origins: [] } }, { schedule: { cron: '0 0 30 2 *' } }])
      expect((await edit(wrong)).status).toBe(400);
    expect((await viewOf(triggerId)).schedule.cron).toBe('45 * * * *');
  });

  test('a removed schedule does not fire', async () => {
    const { triggerId } = await registered();
    const before = world.engine.executed.length;
    await world.call('owner', 'DELETE', pathOf(triggerId));
    const others = (await world.store.triggers.page({ after: '', limit: 500 })).filter(
      (each) => each.source === 'schedule',
    );
    for (const other of others) await world.call('owner', 'DELETE', pathOf(other.triggerId));
    world.clock.advance(2 * HOUR_MS);
    await rounds();
    expect(world.engine.executed.length).toBe(before);
  });
});

describe(covers('triggers.subscription.authority'), () => {
  test('an occurrence of a registrar whose key was revoked is a dead letter', async () => {
    const fields = { ...HOURLY, tenantId: 'acme-dev', schedule: { cron: '0 * * * *' } };
    const { triggerId } = await world.register(fields, 'dev');
    await world.call('operator', 'POST', '/host/example/keys/key_dev/revoke', {});
    toNextHour();
    await eventually(async () => {
      const [letter] = await messagesOf(triggerId);
      expect(letter).toMatchObject({
        outcome: 'dead-lettered',
        problem: 'registrar: its API key was revoked or has expired',
      });
    });
  });
});

test('a schedule that cannot be computed does not hold back others, and keeps its occurrence', async () => {
  const [damaged, sound] = [(await registered()).triggerId, (await registered()).triggerId];
  let due: Occurrence | undefined;
  await world.store.transaction((transaction) =>
    world.store.triggers.change(
      damaged,
      (trigger) => {
        if (trigger.source !== 'schedule') return undefined;
        due = trigger.next;
        return { ...trigger, schedule: { ...trigger.schedule, timeZone: 'Removed/Zone' } };
      },
      transaction,
    ),
  );
  const at = fullHour();
  toNextHour();
  await eventually(async () => expect(await startedBy(sound)).toEqual([at]));
  await eventually(async () => {
    const trigger = await world.store.triggers.read(damaged);
    expect(trigger?.source === 'schedule' && trigger.next?.fireAt).toBeGreaterThan(due?.fireAt ?? 0);
    expect(trigger?.source === 'schedule' && trigger.next?.scheduledAt).toBe(due?.scheduledAt);
  });
});
