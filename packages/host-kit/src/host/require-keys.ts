import { type ByokSecret, sealedForSecret } from '../ports/byok.ts';
import { yieldToLoop } from '../ports/clock.ts';
import { type KeptReply, sealedForReply } from '../ports/idempotency.ts';
import { type OpenedSecret, sealedForRun } from '../ports/opened-secrets.ts';
import type { Store } from '../ports/store.ts';
import { keyIdOf, type SecretBox } from '../sealing/secret-box.ts';
import { type ResealOptions, reseal } from './reseal.ts';

/**
 * Requires that the host has the key of every sealed record of its store. Without this check, a host that lost its key
 * would start and could sign no delivery.
 *
 * The store lists the ids of the keys that have sealed records. The records themselves are read only when the list has
 * an id that the host lacks, and once when the list is empty, because earlier versions kept none. Records that name no
 * key are then sealed anew.
 *
 * @throws {TypeError} when a record has another key; the message names the id of each missing key
 */
export async function requireKeys(options: ResealOptions): Promise<void> {
  const { store, secrets } = options;
  const listed = await store.sealingKeys.list();
  const missing = listed.filter((keyId) => !secrets.keyIds.includes(keyId));
  if (listed.length === 0 || missing.length > 0) {
    const { keyIds, unnamed, unopenable } = await keysInUse(store, secrets);
    const absent = [...keyIds].filter((keyId) => !secrets.keyIds.includes(keyId)).sort();
    if (absent.length > 0 || unopenable > 0) throw new TypeError(missingKeys(secrets, absent, unopenable));
    if (unnamed > 0) await reseal(options)(new AbortController().signal);
    await store.sealingKeys.add([...keyIds]);
    await store.sealingKeys.remove(missing);
  }
  await announceKey(options);
}

/** Lists the current key of the host in the store. A host that lacks the key then finds it in the list. */
export async function announceKey({ store, secrets }: Pick<ResealOptions, 'store' | 'secrets'>): Promise<void> {
  await store.sealingKeys.add([secrets.keyIds[0]]);
}

interface KeysInUse {
  /** The ids that sealed records name. */
  readonly keyIds: ReadonlySet<string>;
  /** The number of records that name no key and open with a key of the host. */
  readonly unnamed: number;
  /** The number of records that name no key and open with none. */
  readonly unopenable: number;
}

async function keysInUse(store: Store, secrets: SecretBox): Promise<KeysInUse> {
  const keyIds = new Set<string>();
  let unnamed = 0;
  let unopenable = 0;
  for await (const records of sealedRecords(store)) {
    for (const { sealed, boundTo } of records) {
      const keyId = keyIdOf(sealed);
      if (keyId !== undefined) keyIds.add(keyId);
      else if (opens(secrets, sealed, boundTo)) unnamed++;
      else unopenable++;
    }
    // A store in this process answers without a pause, so probes would wait for the whole walk.
    await yieldToLoop();
  }
  return { keyIds, unnamed, unopenable };
}

function opens(secrets: SecretBox, sealed: Uint8Array, boundTo: string): boolean {
  try {
    secrets.open(sealed, boundTo);
    return true;
  } catch {
    return false;
  }
}

interface SealedRecord {
  readonly sealed: Uint8Array;
  readonly boundTo: string;
}

/** Reads every sealed record of a store, in pages. */
async function* sealedRecords(store: Store): AsyncGenerator<readonly SealedRecord[]> {
  for (let after = ''; ; ) {
    const page = await store.subscriptions.page({ after, limit: PAGE });
    yield page.flatMap(({ webhookId, sealedSecret, previousSecret }) => [
      { sealed: sealedSecret, boundTo: webhookId },
      ...(previousSecret === undefined ? [] : [{ sealed: previousSecret.sealed, boundTo: webhookId }]),
    ]);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.webhookId;
  }
  for (let after = ''; ; ) {
    const page = await store.triggers.page({ after, limit: PAGE });
    yield page.map(({ triggerId, sealedSecrets }) => ({ sealed: sealedSecrets, boundTo: triggerId }));
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.triggerId;
  }
  for (let after: ByokSecret | undefined; ; ) {
    const page = await store.byok.page({ after, limit: PAGE });
    yield page.map((secret) => ({ sealed: secret.sealed, boundTo: sealedForSecret(secret, secret.name) }));
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  for (let after: OpenedSecret | undefined; ; ) {
    const page = await store.openedSecrets.page({ after, limit: PAGE });
    yield page.map((opened) => ({ sealed: opened.sealed, boundTo: sealedForRun(opened) }));
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  for (let after: KeptReply | undefined; ; ) {
    const page = await store.idempotency.page({ after, limit: PAGE });
    yield page.map((reply) => ({ sealed: reply.sealed, boundTo: sealedForReply(reply) }));
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
}

const PAGE = 500;

function missingKeys({ keyIds }: SecretBox, absent: readonly string[], unopenable: number): string {
  const named = absent.length === 0 ? [] : [`records sealed with the key ${absent.join(', ')}`];
  const unnamed = unopenable === 0 ? [] : [`${unopenable} sealed records that name no key and that no key here opens`];
  return (
    `secretKey: the database holds ${[...named, ...unnamed].join(', and ')}; the keys of this host are ${keyIds.join(', ')}. ` +
    'Restore the missing key as secretKey, or add it to the former keys.'
  );
}
