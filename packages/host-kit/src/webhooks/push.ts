import type { Principal } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
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

export interface Pushes {
  /**
   * Pushes a run to a URL, in place of a push of the same name.
   *
   * @throws {HostError} `webhook_url_rejected`, `validation_error` when the run has as many as it may have
   */
  add(principal: Principal, run: Run, asked: AskedPush): Promise<Subscription>;
  list(principal: Principal, run: Run): Promise<readonly Subscription[]>;
  /** Whether there was one of that name. */
  remove(principal: Principal, run: Run, name: string): Promise<boolean>;
}

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

export function pushes({ store, clock, random, egress, secrets, dispatcher, recordAudit }: PushesOptions): Pushes {
  return {
    async add(principal, run, { name, format, url, events, secret }) {
      const checked = checkUrl(url, egress);
      if (!checked.ok) {
        const { reason } = checked;
        throw new HostError('webhook_url_rejected', `url is refused: ${reason}.`, { details: { reason } });
      }
      const webhookId = mintId('whk', clock.now, random);
      const subscription: Subscription = {
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
      const replaced = await store.transaction(async (transaction) => {
        const others = await heldPushesOf(run, transaction);
        const same = others.filter(({ push }) => push?.name === name);
        if (same.length === 0 && others.length >= MOST_PUSHES) {
          throw invalid({
            field: 'taskId',
            problem: `has ${MOST_PUSHES} push notification configurations, which is all it may`,
          });
        }
        await remove(principal, same, transaction);
        await store.subscriptions.insert(subscription, transaction);
        await recordAudit(fact(principal, 'webhook.register', webhookId), transaction);
        return same.map(({ webhookId }) => webhookId);
      });
      await stopDelivering({ store, clock, dispatcher }, replaced);
      return subscription;
    },
    list: (_principal, run) => store.transaction((transaction) => store.subscriptions.pushesOf(run, transaction)),
    async remove(principal, run, name) {
      const removed = await store.transaction(async (transaction) => {
        const found = (await heldPushesOf(run, transaction)).filter(({ push }) => push?.name === name);
        await remove(principal, found, transaction);
        return found.map(({ webhookId }) => webhookId);
      });
      await stopDelivering({ store, clock, dispatcher }, removed);
      return removed.length > 0;
    },
  };

  /** With the run held, so that of two who add at the same time each counts the other's. */
  async function heldPushesOf(run: Run, transaction: Transaction): Promise<readonly Subscription[]> {
    await store.runs.forAppend([run.runId], transaction);
    return await store.subscriptions.pushesOf(run, transaction);
  }

  async function remove(principal: Principal, found: readonly Subscription[], transaction: Transaction): Promise<void> {
    for (const { webhookId } of found) await store.subscriptions.remove(principal.tenancy, webhookId, transaction);
    for (const { webhookId } of found) await recordAudit(fact(principal, 'webhook.unregister', webhookId), transaction);
  }

  function fact(principal: Principal, action: 'webhook.register' | 'webhook.unregister', webhookId: string): AuditFact {
    return factAbout(principal, { action, target: `${principal.tenancy.tenant}/${webhookId}`, at: clock.now() });
  }
}

const MOST_PUSHES = 10;

/** A round that removes the pushes of runs that ended so long ago that nothing is left to tell of them, dead letters among it. */
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
