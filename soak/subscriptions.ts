import type { Chance } from '@svc/tools/chance';
import { call } from './api.ts';
import { soon } from './child.ts';
import type { KnownSubscription } from './evidence.ts';
import { type PlannedSubscription, REALMS } from './plan.ts';
import type { Receivers } from './receivers.ts';
import { partsOf } from './records.ts';

/** Registers a subscription at a host, and gives its secret to the receivers. */
export async function register(
  url: () => string,
  planned: PlannedSubscription,
  receivers: Receivers,
  chance: Chance,
  isStanding: boolean,
): Promise<KnownSubscription> {
  const { name, realm, receiver, major, events, tags, answer } = planned;
  const at = { url: receivers.urlOf(receiver, name), events, ...(tags.length > 0 && { tags }) };
  const brought = Buffer.from(chance.random(32)).toString('hex');
  // In major 2 the subscriber chooses the secret, so the receivers know it before the first delivery.
  if (major === 2) receivers.trust(name, brought, answer);
  const body = major === 2 ? { ...at, secret: brought } : { ...at, tenantId: REALMS[realm].workspace };
  const path = major === 2 ? '/webhooks' : '/v1/webhooks';
  const answered = await call(url(), realm, path, { major, body });
  if (answered.status !== 201) throw new Error(`The registration of ${name} returned ${JSON.stringify(answered)}.`);
  const { webhookId, secret = brought } = answered.body;
  receivers.trust(name, secret, answer);
  return { name, webhookId, realm, durable: major === 2, events, tags, isStanding };
}

/** Removes a subscription, with retries. Resolves with the time of the response, in ms since the epoch. */
export async function remove(url: () => string, { realm, webhookId, name }: KnownSubscription): Promise<number> {
  const path = `/v1/webhooks/${partsOf(webhookId ?? '').bare}?tenantId=${REALMS[realm].workspace}`;
  return soon(`the removal of ${name}`, async () => {
    const { status } = await call(url(), realm, path, { method: 'DELETE' });
    // 404: an earlier try removed it, and its response was lost.
    if (status !== 204 && status !== 404) throw new Error(`The removal of ${name} returned status ${status}.`);
    return Date.now();
  });
}
