import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type PortalHost, portalHost } from '../portal/portal-host.ts';

/** The time for which `deadLetters` of the host keeps a dead letter, in ms. */
const KEPT_MS = 9e9;

/** A host that sweeps nothing, because it is not started, with one dead letter. */
async function withDeadLetter() {
  const serving = await portalHost({ ports: { log: () => {} } });
  onTestFinished(() => serving.host.stop(0));
  const webhookId = await serving.register('owner', ['run.failed'], 'acme-prod');
  const [deliveryId = ''] = await serving.deadLetters(webhookId, 'run.failed');
  return { ...serving, webhookId, deliveryId };
}

type Serving = PortalHost & { readonly webhookId: string; readonly deliveryId: string };
type Ask = (serving: Serving) => Promise<unknown>;

const ofOwner = ({ call, webhookId }: Serving, method: string, path: string, body?: unknown) =>
  call('owner', method, `/host/example/webhooks/${webhookId}${path}`, body);

/** Each reading of an owner, with what it answers while there is one dead letter, and when there is none. */
const READINGS: readonly [string, Ask, unknown, unknown][] = [
  [
    'the list of the protocol',
    async ({ call, webhookId }) =>
      (await call('owner', 'GET', `/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod`)).body.deliveries.length,
    1,
    0,
  ],
  [
    'the list of dead letters',
    async (serving) => (await ofOwner(serving, 'GET', '/deliveries?state=dead-lettered')).body.deliveries.length,
    1,
    0,
  ],
  [
    'the list of all deliveries',
    async (serving) => (await ofOwner(serving, 'GET', '/deliveries')).body.deliveries.length,
    1,
    0,
  ],
  [
    'the delivery itself',
    async (serving) => (await ofOwner(serving, 'GET', `/deliveries/${serving.deliveryId}`)).status,
    200,
    404,
  ],
  [
    'the dry run of a redrive',
    async (serving) =>
      (await ofOwner(serving, 'POST', '/dead-letters/redrive-matching', { dryRun: true })).body.matching,
    1,
    0,
  ],
  [
    'the counts of the subscription',
    async (serving) => (await ofOwner(serving, 'GET', '/dead-letters/facets')).body.matching,
    1,
    0,
  ],
  [
    'the counts of all subscriptions',
    async ({ call }) => (await call('owner', 'GET', '/host/example/webhooks/dead-letters/facets')).body.matching,
    1,
    0,
  ],
  [
    'the list of a portal session',
    async ({ open, webhookId }) => {
      const { portal } = await open('owner', { actions: ['view'] });
      return (await portal('GET', `/webhooks/${webhookId}/deliveries?state=dead-lettered`)).body.deliveries.length;
    },
    1,
    0,
  ],
  ['a redrive', async (serving) => (await ofOwner(serving, 'POST', '/dead-letters/redrive', {})).body.redriven, 1, 0],
  [
    'sending it again',
    async (serving) => (await ofOwner(serving, 'POST', `/deliveries/${serving.deliveryId}/resend`)).status,
    200,
    404,
  ],
];

describe(covers('webhooks.dead-letters.retention'), () => {
  test.each(READINGS)('%s has a dead letter until it expires, and not until it is swept', async (...row) => {
    const [, ask, kept, expired] = row;
    const serving = await withDeadLetter();
    serving.clock.advance(KEPT_MS - 1);
    expect(await ask(serving)).toBe(kept);

    const later = await withDeadLetter();
    later.clock.advance(KEPT_MS);
    expect(await ask(later)).toBe(expired);
  });
});
