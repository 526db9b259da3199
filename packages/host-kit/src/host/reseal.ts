import { type ByokSecret, sealedForSecret } from '../ports/byok.ts';
import { sealedForAnswer } from '../ports/captured-answers.ts';
import { yieldToLoop } from '../ports/clock.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { type KeptReply, sealedForReply as sealedForKey } from '../ports/idempotency.ts';
import { type OpenedSecret, sealedForRun } from '../ports/opened-secrets.ts';
import type { Store } from '../ports/store.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Trigger } from '../ports/triggers.ts';
import type { SecretBox } from '../sealing/secret-box.ts';

export interface ResealOptions extends Pick<HostPorts, 'store' | 'log'> {
  readonly secrets: SecretBox;
}

/**
 * Makes one walk through all sealed records, and seals those anew that a former key sealed. A former key can be removed
 * after a walk that found no such record, as long as no host seals with it. Records that no key opens stay as they are,
 * and are counted.
 */
export function reseal(options: ResealOptions): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    let resealed = 0;
    let unopenable = 0;
    for (const walk of [webhookSecrets, triggerSecrets, byokSecrets, openedSecrets, keptReplies, answers]) {
      for await (const step of walk(options)) {
        resealed += step.resealed;
        unopenable += step.unopenable;
        if (signal.aborted) return;
        // A store in this process answers without a pause, so requests would wait for the whole walk.
        await yieldToLoop();
      }
    }
    if (resealed === 0 && unopenable === 0) await options.store.sealingKeys.remove(options.secrets.keyIds.slice(1));
    const message =
      unopenable === 0
        ? 'Every stored secret is sealed with secretKey.'
        : 'Some stored secrets cannot be opened with secretKey or any of the former keys. Add the missing key to the former ones.';
    options.log({
      level: unopenable === 0 ? 'info' : 'warn',
      event: 'secrets.resealed',
      resealed,
      unopenable,
      message,
    });
  };
}

interface Step {
  readonly resealed: number;
  readonly unopenable: number;
}

/** Records in one transaction, so that other writers do not wait for long. */
const STEP = 100;

async function* webhookSecrets({ store, secrets }: ResealOptions): AsyncGenerator<Step> {
  for (let after = ''; ; ) {
    const page = await store.subscriptions.page({ after, limit: STEP });
    const stale = page.filter(
      ({ sealedSecret, previousSecret }) =>
        !secrets.isCurrent(sealedSecret) || (previousSecret !== undefined && !secrets.isCurrent(previousSecret.sealed)),
    );
    yield await resealed(stale, store, secrets, ({ webhookId }, again, transaction) => {
      // Read inside of the transaction: the secret may have been rotated since it was found.
      const change = ({ sealedSecret, secretFingerprint, previousSecret }: Subscription) => ({
        sealedSecret: again(sealedSecret, webhookId),
        secretFingerprint,
        previousSecret: previousSecret && { ...previousSecret, sealed: again(previousSecret.sealed, webhookId) },
      });
      return store.subscriptions.updateSecrets(webhookId, change, transaction);
    });
    const last = page.at(-1);
    if (last === undefined || page.length < STEP) return;
    after = last.webhookId;
  }
}

async function* triggerSecrets({ store, secrets }: ResealOptions): AsyncGenerator<Step> {
  for (let after = ''; ; ) {
    const page = await store.triggers.page({ after, limit: STEP });
    const stale = page.filter(({ sealedSecrets }) => !secrets.isCurrent(sealedSecrets));
    yield await resealed(stale, store, secrets, async ({ triggerId }, again, transaction) => {
      // Read inside of the transaction: the secret may have been rotated since it was found.
      const change = (trigger: Trigger) => ({ ...trigger, sealedSecrets: again(trigger.sealedSecrets, triggerId) });
      await store.triggers.change(triggerId, change, transaction);
    });
    const last = page.at(-1);
    if (last === undefined || page.length < STEP) return;
    after = last.triggerId;
  }
}

async function* byokSecrets({ store, secrets }: ResealOptions): AsyncGenerator<Step> {
  for (let after: ByokSecret | undefined; ; ) {
    const page = await store.byok.page({ after, limit: STEP });
    const stale = page.filter(({ sealed }) => !secrets.isCurrent(sealed));
    yield await resealed(stale, store, secrets, (secret, again, transaction) =>
      store.byok.reseal(secret, again(secret.sealed, sealedForSecret(secret, secret.name)), transaction),
    );
    after = page.at(-1);
    if (page.length < STEP) return;
  }
}

async function* openedSecrets({ store, secrets }: ResealOptions): AsyncGenerator<Step> {
  for (let after: OpenedSecret | undefined; ; ) {
    const page = await store.openedSecrets.page({ after, limit: STEP });
    const stale = page.filter(({ sealed }) => !secrets.isCurrent(sealed));
    yield await resealed(stale, store, secrets, (opened, again, transaction) =>
      store.openedSecrets.reseal(opened, again(opened.sealed, sealedForRun(opened)), transaction),
    );
    after = page.at(-1);
    if (page.length < STEP) return;
  }
}

async function* keptReplies({ store, secrets }: ResealOptions): AsyncGenerator<Step> {
  for (let after: KeptReply | undefined; ; ) {
    const page = await store.idempotency.page({ after, limit: STEP });
    const stale = page.filter(({ sealed }) => !secrets.isCurrent(sealed));
    yield await resealed(stale, store, secrets, (reply, again, transaction) =>
      store.idempotency.reseal(reply, again(reply.sealed, sealedForKey(reply)), transaction),
    );
    after = page.at(-1);
    if (page.length < STEP) return;
  }
}

async function* answers({ store, secrets }: ResealOptions): AsyncGenerator<Step> {
  for (let after = 0; ; ) {
    const page = await store.capturedAnswers.page({ after, limit: STEP });
    const stale = page.filter(({ sealed }) => !secrets.isCurrent(sealed));
    yield await resealed(stale, store, secrets, (answer, again, transaction) =>
      store.capturedAnswers.reseal(answer, again(answer.sealed, sealedForAnswer(answer)), transaction),
    );
    const last = page.at(-1);
    if (last === undefined || page.length < STEP) return;
    after = last.position;
  }
}

type Again = (sealed: Uint8Array, boundTo: string) => Uint8Array;

/** Seals a page of records anew, in one transaction. */
async function resealed<T>(
  stale: readonly T[],
  store: Store,
  secrets: SecretBox,
  write: (item: T, again: Again, transaction: Transaction) => Promise<void>,
): Promise<Step> {
  if (stale.length === 0) return { resealed: 0, unopenable: 0 };
  return await store.transaction(async (transaction) => {
    const step = { resealed: 0, unopenable: 0 };
    for (const item of stale) await write(item, counted(secrets, step), transaction);
    return step;
  });
}

function counted(secrets: SecretBox, step: { resealed: number; unopenable: number }): Again {
  return (sealed, boundTo) => {
    if (secrets.isCurrent(sealed)) return sealed;
    try {
      const anew = secrets.seal(secrets.open(sealed, boundTo), boundTo);
      step.resealed++;
      return anew;
    } catch {
      step.unopenable++;
      return sealed;
    }
  };
}
