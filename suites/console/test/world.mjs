import { eventually, startReceiver } from './booted-host.mjs';

/**
 * Fills a host as an operator finds it: a receiver that works, one that fails with dead letters, a paused subscription, and
 * runs that completed, failed, and wait for people.
 */
export async function fill(host) {
  const healthy = await startReceiver('/ledger');
  const failing = await startReceiver('/orders');
  failing.status = 500;
  const register = async (receiver, events) => {
    const body = { url: receiver.url, events };
    const { webhookId } = await host.call('POST', '/webhooks', body);
    return webhookId.split('/')[1];
  };
  const webhooks = {
    healthy: await register(healthy, ['run.completed', 'run.failed']),
    failing: await register(failing, ['run.completed']),
  };
  await host.call('PATCH', `/host/example/webhooks/${webhooks.failing}`, { description: 'Orders of the shop' });
  const start = async (workflowId, inputs = {}) => (await host.call('POST', '/runs', { workflowId, inputs })).runId;
  for (let count = 0; count < LETTERS; count += 1) await start('echo', { order: count });
  const runs = {
    failed: await start('fail', { message: 'The card was declined.' }),
    approval: await start('approval', { title: 'Publish the release notes?' }),
    clarification: await start('clarification', { question: 'Which colour?', choices: ['red', 'blue'] }),
  };
  const statusOf = async (id) => (await host.call('GET', `/runs/${id.replace('/', '~2F')}`)).status;
  await eventually('the runs wait', async () => (await statusOf(runs.clarification)) === 'waiting-input');
  await eventually('the run fails', async () => (await statusOf(runs.failed)) === 'failed');
  await eventually('the dead letters', async () => (await deadLettersOf(host, webhooks.failing)) === LETTERS);
  await eventually('the healthy deliveries', () => healthy.received > LETTERS);
  const stop = () => {
    for (const receiver of [healthy, failing]) receiver.stop();
  };
  return { healthy, failing, webhooks, runs, stop };
}

/** The dead letters that `fill` leaves behind. */
export const LETTERS = 12;

/** The number of dead letters of a subscription. */
export async function deadLettersOf(host, webhookId) {
  const path = `/host/example/webhooks/${webhookId}/dead-letters/redrive-matching`;
  return (await host.call('POST', path, { dryRun: true })).matching;
}
