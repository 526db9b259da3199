import { call } from './api.ts';
import { sleep, soon } from './child.ts';
import type { AcknowledgedRun } from './clients.ts';
import type {
  AuditVerdict,
  DeadLetter,
  Evidence,
  KnownRun,
  KnownSubscription,
  LoggedEvent,
  Received,
} from './evidence.ts';
import { ATTEMPT_TIMEOUT_MS, REALMS, RETRY_POLICY, type RealmName } from './plan.ts';
import { partsOf, type Records } from './records.ts';
import { arrival } from './rules/arrival.ts';
import { caseOf } from './rules/case.ts';
import type { World } from './world.ts';

/**
 * Waits until every acknowledged run has ended and its events have arrived, for at most `deadlineMs`, and returns the
 * evidence: the records of the receivers and the responses of the hosts.
 *
 * @param waiting receives the number of missing runs and events, once a second
 */
export async function gather(
  world: World,
  records: Records,
  deadlineMs: number,
  waiting: (missing: number) => void,
): Promise<Evidence> {
  const url = () => world.url();
  const runs = new Map<string, KnownRun>();
  let end = Date.now() + deadlineMs;
  for (let areAhead = false; ; ) {
    await readRuns(url, runs, owed(world.clients.acknowledged, records.read(), world.subscriptions));
    const evidence = await seen();
    const unfinished = evidence.runs.filter(({ status }) => !ENDED.has(status));
    const missing = unfinished.length + arrival(caseOf(evidence)).length;
    if (missing === 0) break;
    if (Date.now() > end) {
      // Nothing but such runs may need the day that they sleep for.
      if (areAhead || missing > unfinished.length || !unfinished.every(isAsleepByAnotherClock)) break;
      areAhead = true;
      world.hosts.advanceClocks(AHEAD_MS);
      end = Date.now() + deadlineMs;
    }
    waiting(missing);
    await sleep(1000);
  }
  // A delivery that must not happen would happen in this time.
  await sleep(2 * ATTEMPT_TIMEOUT_MS);
  await readRuns(url, runs, owed(world.clients.acknowledged, records.read(), world.subscriptions));
  return { ...(await seen()), audits: [await verifiedAudit(url, 'live')] };

  async function seen(): Promise<Evidence> {
    return {
      policy: RETRY_POLICY,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      subscriptions: world.subscriptions,
      runs: [...runs.values()],
      keyed: world.clients.keyed,
      deadLetters: (await inTurn(world.subscriptions, (known) => deadLettersOf(url, known))).flat(),
      // Read last: a dead letter that was read above must find all of its attempts here.
      received: records.read(),
      disturbances: world.disturbances,
      audits: [],
      bootMs: world.hosts.bootMs,
      unexplained: [...world.hosts.deaths, ...world.clients.refused],
    };
  }
}

/**
 * Returns whether a run sleeps until a time of a clock that was ahead. A clock that is set back between the start of a
 * node and the sleep that follows leaves such a run. The run wakes when the clock of its host reaches that time.
 */
function isAsleepByAnotherClock({ workflow, log }: KnownRun): boolean {
  return (
    workflow === 'delay' && log.at(-1)?.type === 'node.started' && (log.at(-1)?.at ?? 0) > Date.now() + HOUR_MS / 2
  );
}

const HOUR_MS = 3_600_000;
/** More than the longest step of a clock. Whole hours are what the rules allow for. */
const AHEAD_MS = 25 * HOUR_MS;
const ENDED = new Set(['completed', 'failed', 'cancelled']);

/** Returns the acknowledged runs, and the unacknowledged ones of which a receiver got an event. */
function owed(
  acknowledged: readonly AcknowledgedRun[],
  received: readonly Received[],
  subscriptions: readonly KnownSubscription[],
): ReadonlyMap<string, { readonly realm: RealmName; readonly acknowledged: boolean }> {
  const realmOf = new Map(subscriptions.map(({ name, realm }) => [name, realm]));
  const found = new Map<string, { readonly realm: RealmName; readonly acknowledged: boolean }>();
  for (const { name, runId, refusal } of received) {
    const realm = realmOf.get(name);
    if (realm !== undefined && refusal === undefined) found.set(runId, { realm, acknowledged: false });
  }
  for (const { runId, realm } of acknowledged) found.set(runId, { realm, acknowledged: true });
  return found;
}

/** Reads the logs of the runs that had not ended when they were last read. */
async function readRuns(
  url: () => string,
  known: Map<string, KnownRun>,
  wanted: ReadonlyMap<string, { readonly realm: RealmName; readonly acknowledged: boolean }>,
): Promise<void> {
  const open = [...wanted].filter(([runId]) => !ENDED.has(known.get(runId)?.status ?? ''));
  await inTurn(open, async ([runId, { realm, acknowledged }]) => {
    const run = await readRun(url, realm, runId);
    if (run !== undefined) known.set(runId, { ...run, acknowledged });
  });
}

async function readRun(
  url: () => string,
  realm: RealmName,
  runId: string,
): Promise<Omit<KnownRun, 'acknowledged'> | undefined> {
  const snapshot = await ask(url, realm, `/v1/runs/${runId}`, [200, 404]);
  if (snapshot.status === 404) return undefined;
  const polled = await ask(url, realm, `/v1/runs/${runId}/events/poll?timeout=1`, [200]);
  const { workflowId, tags = [], metadata: { idempotencyKey } = {} } = snapshot.body;
  const log: LoggedEvent[] = polled.body.events.map(({ eventId, sequence, type, timestamp, payload }: PolledEvent) => ({
    eventId,
    sequence,
    type,
    at: Date.parse(timestamp),
    ...(payload.attempt !== undefined && { attempt: payload.attempt }),
  }));
  const { runStatus: status } = polled.body;
  return {
    runId,
    realm,
    workflow: workflowId,
    tags,
    status,
    log,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

interface PolledEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: { readonly attempt?: number };
}

async function deadLettersOf(
  url: () => string,
  { name, realm, webhookId, removedAt }: KnownSubscription,
): Promise<DeadLetter[]> {
  if (webhookId === undefined || removedAt !== undefined) return [];
  const path = `/v1/webhooks/${partsOf(webhookId).bare}/dead-letters?tenantId=${REALMS[realm].workspace}&limit=200`;
  const letters: DeadLetter[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await ask(url, realm, `${path}${cursor}`, [200]);
    for (const { runId, eventId, attempts, deadLetteredAt } of body.deliveries) {
      letters.push({ name, runId, eventId, attempts, at: Date.parse(deadLetteredAt) });
    }
    if (body.nextCursor === undefined) return letters;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

async function verifiedAudit(url: () => string, realm: RealmName): Promise<AuditVerdict> {
  const { body } = await ask(url, realm, '/v1/audit/verify?fromSeq=1&toSeq=100000000', [200]);
  return {
    realm,
    chainValid: body.chainValid,
    checkpointsValid: body.checkpointsValid,
    checkpoints: body.checkpoints.length,
  };
}

/** Retries until the status is one of these: every host is up, but a kept connection to a killed one may still fail. */
function ask(url: () => string, realm: RealmName, path: string, statuses: readonly number[]) {
  return soon(path, async () => {
    const answer = await call(url(), realm, path);
    if (!statuses.includes(answer.status)) throw new Error(`${path} returned status ${answer.status}`);
    return answer;
  });
}

/** Works on eight items at a time. Returns the results in the order of the items. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return results;
}
