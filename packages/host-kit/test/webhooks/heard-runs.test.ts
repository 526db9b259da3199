import { type LogRecord, type MountServices, mountRoute } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, onTestFinished, test } from 'vitest';
import { triggerHost } from '../triggers/trigger-host.ts';

/** A host with a subscription of the workspace `acme-prod`, and a mount that creates runs of no workspace. */
async function listeningHost() {
  const logged: LogRecord[] = [];
  const inbox = ({ runs }: MountServices) =>
    mountRoute({
      method: 'POST',
      path: '/inbox',
      takesBody: false,
      async serve(call) {
        const unset = { scope: undefined, configurable: undefined, tags: [], metadata: undefined };
        const run = await runs.create(call, { workflowId: 'echo', inputs: {}, ...unset });
        return { status: 201, body: { runId: run.runId } };
      },
    });
  const host = await triggerHost({
    store: memoryStore(),
    more: {
      ports: { log: (record) => void logged.push(record) },
      mounts: [(services) => ({ name: 'inbox', path: '/inbox', routes: [inbox(services)] })],
    },
  });
  onTestFinished(() => host.host.stop(0));
  const registration = { url: 'https://hooks.example/', events: ['run.completed'], tenantId: 'acme-prod' };
  expect((await host.call('owner', 'POST', '/v1/webhooks', registration)).status).toBe(201);
  return { host, warnings: () => logged.filter(({ event }) => event === 'run.without-workspace') };
}

const WARNED = [{ level: 'warn', message: expect.stringContaining('of the workspace acme-prod does not hear of it') }];

test('the operator is warned of a run of a mount that no subscription hears of', async () => {
  const { host, warnings } = await listeningHost();
  expect((await host.call('operator', 'POST', '/host/example/inbox')).status).toBe(201);
  expect(warnings()).toMatchObject(WARNED);
});

test('the operator is warned of a run of a trigger that no subscription hears of', async () => {
  const { host, warnings } = await listeningHost();
  const { triggerId } = await host.register({}, 'operator');
  expect((await host.send(triggerId, { order: 'o_1' })).status).toBe(202);
  expect(warnings()).toMatchObject(WARNED);
});

test('the operator is warned once, in whichever way runs are created', async () => {
  const { host, warnings } = await listeningHost();
  const { triggerId } = await host.register({}, 'operator');
  await host.send(triggerId, { order: 'o_1' });
  await host.call('operator', 'POST', '/host/example/inbox');
  await host.call('operator', 'POST', '/v1/runs', { workflowId: 'echo' });
  expect(warnings().filter(({ level }) => level === 'warn')).toHaveLength(1);
});
