import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Log, Store } from '@svc/host-kit';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { z } from 'zod';

/** The file beside a database that lists the subscriptions which a restore has paused. */
function listOf(database: string): string {
  return `${database}-held-deliveries.json`;
}

const listed = z.strictObject({
  heldAt: z.iso.datetime(),
  subscriptions: z.array(z.string()),
  /** The last entry of the audit log before the subscriptions were paused. Lists of earlier versions lack it. */
  auditedUpTo: z.int().min(0).default(0),
});

/**
 * Pauses every active subscription of a database that no host uses, and lists them in a file.
 *
 * @param copy the database whose subscriptions are paused
 * @param database the path that it will have, beside which the list is written
 * @returns their number
 */
export async function hold(copy: string, database: string): Promise<number> {
  const store = sqliteStore(copy);
  try {
    const active: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await store.subscriptions.page({ after, limit: STEP });
      active.push(...page.filter(({ status }) => status === 'active').map(({ webhookId }) => webhookId));
      after = page.length < STEP ? undefined : page.at(-1)?.webhookId;
    }
    const auditedUpTo = (await store.audit.head())?.atSequence ?? 0;
    const list = { heldAt: new Date().toISOString(), subscriptions: active, auditedUpTo };
    writeFileSync(listOf(database), `${JSON.stringify(list)}\n`, { mode: 0o600, flush: true });
    return (await move(store, active, 'active', 'paused')).moved;
  } finally {
    await store.close();
  }
}

/** The numbers of subscriptions that were held and are paused. */
export interface Released {
  readonly resumed: number;
  /** Those that stay paused, because they were paused anew after the restore. */
  readonly leftPaused: number;
}

/**
 * Resumes the subscriptions that `hold` has paused and that are still paused, and removes the list. A subscription that
 * was paused anew since stays paused.
 *
 * @returns undefined when nothing is held
 * @throws {Error} when a host uses the database, or the list is malformed
 */
export async function release(database: string): Promise<Released | undefined> {
  const held = heldBeside(database);
  if (held === undefined) return undefined;
  const store = sqliteStore(database);
  try {
    const paused = await pausedAnew(store, held.auditedUpTo);
    const { moved, leftOut } = await move(store, held.subscriptions, 'paused', 'active', paused);
    rmSync(listOf(database));
    return { resumed: moved, leftPaused: leftOut };
  } finally {
    await store.close();
  }
}

/** Removes the list beside a database whose restore failed. Otherwise the next restore would find its place taken. */
export function forgetHeld(database: string): void {
  rmSync(listOf(database), { force: true });
}

/** Says in the log that a restore has paused subscriptions. Call it when the store is open. */
export async function tellHeld(location: string, log: Log): Promise<void> {
  const held = await heldIn(location);
  if (held === 0) return;
  const stop = location.startsWith('sqlite:') ? 'Stop the host and run' : 'Run';
  const message = `A restore has paused these subscriptions, so that nothing is sent twice. ${stop} svc-host release-deliveries, or resume each one.`;
  log({ level: 'warn', event: 'deliveries.held', subscriptions: held, message });
}

async function heldIn(location: string): Promise<number> {
  if (location === 'memory:') return 0;
  if (location.startsWith('sqlite:')) return heldBeside(location.slice('sqlite:'.length))?.subscriptions.length ?? 0;
  const { heldDeliveries } = await import('@svc/host-kit/stores/postgres');
  return await heldDeliveries({ url: location });
}

function heldBeside(database: string): z.infer<typeof listed> | undefined {
  const file = listOf(database);
  if (!existsSync(file)) return undefined;
  const parsed = listed.safeParse(jsonIn(file));
  if (parsed.success) return parsed.data;
  throw new Error(`${file}: is malformed. Remove it, and resume the subscriptions one by one.`);
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the targets in the audit log of the subscriptions that a caller has paused since a restore held them. */
async function pausedAnew(store: Store, auditedUpTo: number): Promise<ReadonlySet<string>> {
  const paused = new Set<string>();
  const newest = (await store.audit.head())?.atSequence ?? 0;
  for await (const { action, target, details } of store.audit.entries(auditedUpTo + 1, newest)) {
    if (target === null) continue;
    if (action === 'webhook.resume' || details.cause === 'restore') paused.delete(target);
    else if (action === 'webhook.pause') paused.add(target);
  }
  return paused;
}

type Movable = 'active' | 'paused';

/**
 * Changes the status of those subscriptions that have the status `from`, with an entry of the audit log each.
 *
 * @param except targets in the audit log of subscriptions that are left as they are
 */
async function move(
  store: Store,
  webhookIds: readonly string[],
  from: Movable,
  to: Movable,
  except: ReadonlySet<string> = new Set(),
): Promise<{ readonly moved: number; readonly leftOut: number }> {
  let moved = 0;
  let leftOut = 0;
  for (let start = 0; start < webhookIds.length; start += STEP) {
    await store.transaction(async (transaction) => {
      const facts: Parameters<Store['audit']['append']>[0][number][] = [];
      for (const webhookId of webhookIds.slice(start, start + STEP)) {
        await store.subscriptions.updateState(
          webhookId,
          ({ tenant, status, circuit, failures, outage }) => {
            if (status !== from) return { status, circuit, failures, outage };
            const target = `${tenant}/${webhookId}`;
            if (except.has(target)) {
              leftOut += 1;
              return { status, circuit, failures, outage };
            }
            const occurredAt = new Date().toISOString();
            const action = to === 'paused' ? 'webhook.pause' : 'webhook.resume';
            facts.push({ action, actor: null, target, occurredAt, details: { cause: 'restore', tenant } });
            return { status: to, circuit, failures, outage };
          },
          transaction,
        );
      }
      await store.audit.append(facts, transaction);
      moved += facts.length;
    });
  }
  return { moved, leftOut };
}

/** Subscriptions of one transaction. */
const STEP = 500;
