import { mintId } from '@svc/versioning/ids';
import { type PeriodicTask, periodicTask } from '../../periodic-task.ts';
import { within } from '../../ports/clock.ts';
import type { HostPorts } from '../../ports/host-ports.ts';
import { describeError } from '../../ports/log.ts';
import type { Random } from '../../ports/random.ts';
import type { SourcePlace } from '../../ports/source-places.ts';
import type { StoreClock } from '../../ports/store-clock.ts';
import type { ReadSource, TriggerOf } from '../../ports/triggers.ts';
import { type HeldPlace, heldPlace } from './held-place.ts';

export interface ReadSourcesOptions<Source extends ReadSource> extends Pick<HostPorts, 'store' | 'clock' | 'log'> {
  readonly storeClock: Pick<StoreClock, 'now' | 'read'>;
  readonly random: Random;
  readonly source: Source;
  /** The most sources that this host reads at once. */
  readonly maxAtOnce: number;
  /** The most sources of a tenant and mode that are read, the oldest first. */
  readonly maxPerTenant: number;
  readonly isRead: (trigger: TriggerOf<ReadSource>) => trigger is TriggerOf<Source>;
  /** Reads the source until the signal aborts or the trigger is active no more. Never rejects. */
  readonly read: (trigger: TriggerOf<Source>, place: HeldPlace, signal: AbortSignal) => Promise<void>;
}

/** A source that this host reads. */
interface Reading {
  readonly trigger: TriggerOf<ReadSource>;
  readonly reader: string;
  leaseUntil: number;
  readonly stopping: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Makes a periodic task that reads the sources of active triggers. Of the hosts that share a store, one reads each: it claims the place
 * for 15 s, and prolongs the claim in time. After a kill, another host goes on at the stored cursor when the claim has ended. A host
 * that outlives its claim stores nothing more: each transaction that moves the cursor requires the claim.
 */
export function readSources<Source extends ReadSource>(options: ReadSourcesOptions<Source>): PeriodicTask {
  const { clock, log, store, source } = options;
  const running = new Map<string, Reading>();
  const rounds = periodicTask({ clock, log, name: `triggers.${source}`, everyMs: ROUND_MS, round });

  return {
    start: rounds.start,
    async stop() {
      await rounds.stop();
      for (const { stopping } of running.values()) stopping.abort();
      await within(clock, STOP_MS, Promise.all([...running.values()].map(({ ended }) => ended)));
    },
  };

  async function round(signal: AbortSignal): Promise<void> {
    const wanted = await wantedTriggers(options, signal);
    if (signal.aborted) return;
    for (const [triggerId, { trigger, stopping }] of running) {
      // An edited trigger is read anew. A former reading that has not ended yet is followed in a later round.
      if (wanted.get(triggerId)?.updatedAt !== trigger.updatedAt) stopping.abort();
    }
    const now = await options.storeClock.read();
    for (const reading of running.values()) await prolong(reading, now);
    const free = await unclaimed(
      options,
      [...wanted.keys()].filter((id) => !running.has(id)),
      now,
    );
    for (const triggerId of free) {
      const trigger = wanted.get(triggerId);
      if (signal.aborted || running.size >= options.maxAtOnce) return;
      if (trigger !== undefined) await begin(trigger, now);
    }
  }

  async function begin(trigger: TriggerOf<Source>, now: number): Promise<void> {
    const { triggerId } = trigger;
    const claim = { triggerId, reader: mintId('rdr', clock.now, options.random), leaseUntil: now + LEASE_MS };
    const place = await store.triggers.claimPlace({ ...claim, now });
    if (place === undefined) return;
    const stopping = new AbortController();
    const ended = options
      .read(trigger, heldPlace(options, place), stopping.signal)
      .then(() => store.triggers.releasePlace(claim))
      .catch((error: unknown) => {
        log({ level: 'warn', event: `trigger.${source}-release-failed`, triggerId, ...describeError(error) });
      })
      .then(() => {
        running.delete(triggerId);
      });
    running.set(triggerId, { trigger, reader: claim.reader, leaseUntil: claim.leaseUntil, stopping, ended });
  }

  async function prolong(reading: Reading, now: number): Promise<void> {
    const { trigger, reader, stopping } = reading;
    if (stopping.signal.aborted || reading.leaseUntil - now > LEASE_MS - PROLONG_AFTER_MS) return;
    const { triggerId } = trigger;
    const place = await store.triggers.claimPlace({ triggerId, reader, leaseUntil: now + LEASE_MS, now });
    if (place !== undefined) {
      reading.leaseUntil = place.leaseUntil;
      return;
    }
    log({ level: 'warn', event: `trigger.${source}-claim-lost`, triggerId });
    stopping.abort();
  }
}

/** The active triggers by their ids, up to the limit of each tenant. */
async function wantedTriggers<Source extends ReadSource>(
  { store, source, maxPerTenant, isRead }: ReadSourcesOptions<Source>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TriggerOf<Source>>> {
  const wanted = new Map<string, TriggerOf<Source>>();
  const counts = new Map<string, number>();
  for (let after = ''; !signal.aborted; ) {
    const page = await store.triggers.activeReadings({ source, after, limit: PAGE });
    for (const trigger of page) {
      const tenant = JSON.stringify([trigger.tenant, trigger.mode]);
      const count = counts.get(tenant) ?? 0;
      if (trigger.source !== source || !isRead(trigger) || count >= maxPerTenant) continue;
      counts.set(tenant, count + 1);
      wanted.set(trigger.triggerId, trigger);
    }
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) break;
    after = last.triggerId;
  }
  return wanted;
}

/** The triggers that no host reads. `claimPlace` decides about leases of clocks that were ahead. */
async function unclaimed(
  { store }: Pick<HostPorts, 'store'>,
  triggerIds: readonly string[],
  now: number,
): Promise<readonly string[]> {
  const places: readonly SourcePlace[] = triggerIds.length === 0 ? [] : await store.triggers.places(triggerIds);
  const claimed = new Set(
    places
      .filter(({ leaseUntil }) => leaseUntil > now && leaseUntil <= now + 2 * LEASE_MS)
      .map(({ triggerId }) => triggerId),
  );
  return triggerIds.filter((triggerId) => !claimed.has(triggerId));
}

const ROUND_MS = 1000;
const PAGE = 200;
const LEASE_MS = 15_000;
const PROLONG_AFTER_MS = 5000;
/** The longest wait of a stop for messages under way. */
const STOP_MS = 10_000;
