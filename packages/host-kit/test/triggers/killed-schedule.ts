/**
 * A host with a schedule whose occurrence is due. Arguments: the database; the call of the store before whose commit the host hangs,
 * `take` or `settle`, or `none`. Prints a line when it hangs, or the number of runs that the schedule has started.
 */
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { manualClock } from '../streams/manual-clock.ts';
import { triggerHost } from './trigger-host.ts';

const [, , path = '', hangs = 'none'] = process.argv;
const store = sqliteStore(path);
const hang = () =>
  new Promise<never>(() => {
    process.stdout.write('hangs\n');
    setInterval(() => {}, 1000);
  });
const triggers = {
  ...store.triggers,
  async take(...given: Parameters<typeof store.triggers.take>) {
    const before = await store.triggers.take(...given);
    return hangs === 'take' ? hang() : before;
  },
  async settle(...given: Parameters<typeof store.triggers.settle>) {
    const settled = await store.triggers.settle(...given);
    return hangs === 'settle' ? hang() : settled;
  },
};
const isFirst = (await store.triggers.page({ after: '', limit: 1 })).length === 0;
const clock = manualClock(Date.parse(isFirst ? '2026-03-06T11:59:30Z' : '2026-03-06T12:00:05Z'));
const world = await triggerHost({ store: { ...store, triggers }, clock });
if (isFirst) {
  const schedule = { cron: '0 12 * * *', missed: 'all' };
  const mapping = { workflowId: 'echo', inputs: { at: { pointer: '/scheduledAt' } } };
  await world.register({ source: 'schedule', schedule, mapping, webhook: undefined, secret: undefined });
}
for (let round = 0; round < 40; round++) {
  clock.advance(1000);
  await store.probe();
  await new Promise((resolve) => setTimeout(resolve, 10));
}
process.stdout.write(`${(await world.runs()).length}\n`);
await world.host.stop(0);
