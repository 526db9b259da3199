import { isPortal, own, protocol } from './api.ts';
import type { Counted, Delivery, Run, Webhook } from './shapes.ts';

/** The subscriptions of the tenant, as far as they were read. */
export interface WebhookList {
  readonly webhooks: readonly Webhook[];
  /** True: there are more. */
  readonly isCut: boolean;
}

/** Reads up to 1000 subscriptions, in pages of 200. */
export async function listWebhooks(): Promise<WebhookList> {
  const webhooks: Webhook[] = [];
  let after = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = new URLSearchParams({ limit: '200', ...(after !== '' && { after }) });
    const found = await own<{ webhooks: readonly Webhook[]; nextAfter?: string }>('GET', `/webhooks?${query}`);
    webhooks.push(...found.webhooks);
    if (found.nextAfter === undefined) return { webhooks, isCut: false };
    after = found.nextAfter;
  }
  return { webhooks, isCut: true };
}

const MOST_PAGES = 5;

/** Counts the dead letters of a subscription, given its path below `/host/<org>`. A customer may only be able to view. */
export function countDead(path: string): Promise<Counted> {
  if (isPortal()) return own<Counted>('GET', `${path}/dead-letters/facets`);
  return own<Counted>('POST', `${path}/dead-letters/redrive-matching`, { dryRun: true });
}

/** Replaces the secret of a subscription, and returns the end of the former one. */
export async function rotateSecret(webhookId: string, secret: string): Promise<string> {
  const path = `/webhooks/${encodeURIComponent(webhookId)}/rotate-secret`;
  const { previousSecretExpiresAt } = isPortal()
    ? await own<Rotated>('POST', path, { secret })
    : await protocol<Rotated>('POST', `${await pathInMajor2(webhookId)}/rotate-secret`, { secret });
  return previousSecretExpiresAt;
}

interface Rotated {
  readonly previousSecretExpiresAt: string;
}

/**
 * Returns the path of a subscription in major 2, whose ids name the tenant. The view of an operator does not, so the tenant is
 * read from a delivery or a run. Without one the id stays bare, as a host takes it that serves both majors.
 */
async function pathInMajor2(webhookId: string): Promise<string> {
  const named = (await idsOfDeliveries(webhookId)) ?? (await idsOfRuns());
  const tenant = named?.includes('/') ? named.split('/')[0] : undefined;
  return `/webhooks/${encodeURIComponent(tenant === undefined ? webhookId : `${tenant}~2F${webhookId}`)}`;
}

async function idsOfDeliveries(webhookId: string): Promise<string | undefined> {
  const path = `/webhooks/${encodeURIComponent(webhookId)}/deliveries?limit=1`;
  const { deliveries } = await own<{ deliveries: readonly Delivery[] }>('GET', path);
  return deliveries[0]?.webhookId;
}

async function idsOfRuns(): Promise<string | undefined> {
  // The credential may lack the scope for runs.
  const found = await protocol<{ runs: readonly Run[] }>('GET', '/runs?limit=1').catch(() => undefined);
  return found?.runs[0]?.runId;
}
