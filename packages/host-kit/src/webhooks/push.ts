import type { Principal } from '@svc/auth';
import { checkUrl, type EgressPolicy } from '@svc/egress-guard';
import { mintId } from '@svc/versioning/ids';
import { secretFingerprint } from '@svc/webhook-verify';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { CLOSED } from './circuit.ts';
import { type StopDeliveringOptions, stopDelivering } from './stop-delivering.ts';

/** The push subscriptions of single runs. */
export interface RunPushes {
  /**
   * Delivers events of a run to a URL. Replaces a push of the same name.
   *
   * @throws {HostError} `webhook_url_rejected`; `validation_error` when the run already has 10 pushes
   */
  add(principal: Principal, run: Run, asked: AskedPush): Promise<Subscription>;
  list(principal: Principal, run: Run): Promise<readonly Subscription[]>;
  /** Removes a push by its name. Returns false when there is none. */
  remove(principal: Principal, run: Run, name: string): Promise<boolean>;
}

/** A request for a push. */
export interface AskedPush {
  readonly name: string;
  readonly format: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
}

export interface PushesOptions extends ChangeServices {
  readonly random: Random;
  readonly egress: EgressPolicy;
  readonly secrets: SecretBox;
  readonly dispatcher: StopDeliveringOptions['dispatcher'];
}

/** Makes the push subscriptions of a store. At most 10 for each run. */
export function pushes(options: PushesOptions): RunPushes {
  const { store } = options;
  return {
    async add(principal, run, asked) {
      const subscription = pushSubscription(options, run, asked);
      const { webhookId } = subscription;
      const replaced = await store.transaction(async (transaction) => {
        const others = await heldPushesOf(store, run, transaction);
        const same = others.filter(({ push }) => push?.name === asked.name);
        if (same.length === 0 && others.length >= MOST_PUSHES) throw tooMany();
        await removeAll(options, principal, same, transaction);
        await store.subscriptions.insert(subscription, transaction);
        await record(options, principal, 'webhook.register', webhookId, transaction);
        return same.map(({ webhookId }) => webhookId);
      });
      await stopDelivering(options, replaced);
      return subscription;
    },
    list: (_principal, run) => store.transaction((transaction) => store.subscriptions.pushesOf(run, transaction)),
    async remove(principal, run, name) {
      const removed = await store.transaction(async (transaction) => {
        const found = (await heldPushesOf(store, run, transaction)).filter(({ push }) => push?.name === name);
        await removeAll(options, principal, found, transaction);
        return found.map(({ webhookId }) => webhookId);
      });
      await stopDelivering(options, removed);
      return removed.length > 0;
    },
  };
}

function pushSubscription(
  { clock, random, egress, secrets }: PushesOptions,
  run: Run,
  { name, format, url, events, secret }: AskedPush,
): Subscription {
  const checked = checkUrl(url, egress);
  if (!checked.ok) throw rejected(checked.reason);
  const webhookId = mintId('whk', clock.now, random);
  return {
    webhookId,
    tenant: run.tenant,
    workspaces: run.workspace === undefined ? 'all' : [run.workspace],
    mode: run.mode,
    major: 2,
    url: checked.url.href,
    events,
    tags: [],
    durable: true,
    status: 'active',
    circuit: CLOSED,
    failures: [],
    signatureAlgorithms: ['v1'],
    sealedSecret: secrets.seal(secret, webhookId),
    secretFingerprint: secretFingerprint(secret),
    previousSecret: undefined,
    push: { runId: run.runId, name, format },
    createdAt: clock.now(),
  };
}

/** Locks the run, so that two concurrent additions count each other. */
async function heldPushesOf(store: Store, run: Run, transaction: Transaction): Promise<readonly Subscription[]> {
  await store.runs.forAppend([run.runId], transaction);
  return await store.subscriptions.pushesOf(run, transaction);
}

async function removeAll(
  options: PushesOptions,
  principal: Principal,
  found: readonly Subscription[],
  transaction: Transaction,
): Promise<void> {
  const { subscriptions } = options.store;
  for (const { webhookId } of found) await subscriptions.remove(principal.tenancy, webhookId, transaction);
  for (const { webhookId } of found) await record(options, principal, 'webhook.unregister', webhookId, transaction);
}

async function record(
  { clock, recordAudit }: PushesOptions,
  principal: Principal,
  action: 'webhook.register' | 'webhook.unregister',
  webhookId: string,
  transaction: Transaction,
): Promise<void> {
  const target = `${principal.tenancy.tenant}/${webhookId}`;
  await recordAudit(factAbout(principal, { action, target, at: clock.now() }), transaction);
}

function rejected(reason: string): HostError {
  return new HostError('webhook_url_rejected', `url is refused: ${reason}. Pass a public https:// URL.`, {
    details: { reason },
  });
}

function tooMany(): HostError {
  const problem = `already has ${MOST_PUSHES} push notification configurations, the maximum; delete one first`;
  return invalid({ field: 'taskId', problem });
}

const MOST_PUSHES = 10;

/**
 * Returns a periodic task that removes pushes of runs that ended long ago.
 *
 * @param keptMs how long after the end of its run a push is kept, in ms: longer than its last delivery may take, dead
 * letters included
 */
export function forgetPushes(store: Store, clock: Clock, keptMs: number): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let after = ''; !signal.aborted; ) {
      const page = await store.subscriptions.page({ after, limit: STEP });
      for (const { webhookId, push, tenant, mode, createdAt } of page) {
        if (push === undefined || clock.now() - createdAt < keptMs) continue;
        const tenancy = { tenant, mode, workspaces: 'all' } as const;
        const run = await store.runs.read(tenancy, push.runId);
        if (run.kind === 'found' && clock.now() - (run.value.completedAt ?? clock.now()) < keptMs) continue;
        await store.transaction((transaction) => store.subscriptions.remove(tenancy, webhookId, transaction));
      }
      const last = page.at(-1);
      if (last === undefined || page.length < STEP) return;
      after = last.webhookId;
    }
  };
}

const STEP = 200;
