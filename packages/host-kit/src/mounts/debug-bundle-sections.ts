import type { Tenancy } from '@svc/auth';
import type { StoredEntry } from '@svc/auth/audit';
import type { Major } from '@svc/versioning';
import type { BundleRedactor } from '../debug-bundle/redact.ts';
import { Redactor } from '../execution/redactor.ts';
import { SHORTEST_SECRET } from '../execution/secret-patterns.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { type ByokPlace, sealedForSecret } from '../ports/byok.ts';
import { yieldToLoop } from '../ports/clock.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { deliveryIdOf } from '../webhooks/delivery-id.ts';
import { eventBody } from '../wire/event.ts';
import { attemptView } from '../wire/operator.ts';
import { deliveryView } from '../wire/owned-delivery.ts';
import { snapshotBody } from '../wire/run.ts';

/** Returns a redactor that knows the secrets that the tenant of a run has stored for its workspace and for itself. */
export async function secretsOf(
  { store, secrets }: { readonly store: Pick<Store, 'byok'>; readonly secrets: SecretBox },
  { tenant, workspace, mode }: Run,
): Promise<Redactor> {
  const redactor = new Redactor();
  const places: ByokPlace[] = [...(workspace === undefined ? [] : [{ tenant, workspace, mode }]), { tenant, mode }];
  for (const place of places) {
    let after = '';
    for (;;) {
      const page = await store.byok.list(place, { after, limit: SECRETS_AT_ONCE });
      for (const { name, sealed } of page) {
        const value = secrets.open(sealed, sealedForSecret(place, name));
        if (value.length >= SHORTEST_SECRET) redactor.add(name, value);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < SECRETS_AT_ONCE) break;
      after = last.name;
    }
  }
  return redactor;
}

const SECRETS_AT_ONCE = 100;

/** The run with its inputs. */
export function runOf(major: Major, run: Run, redactor: BundleRedactor): JsonObject {
  const { inputs, scopeId, causationId, fork, createdAt, startedAt, completedAt, openNodes, usage, transport } = run;
  const record = {
    ...snapshotBody(major, run),
    inputs: limited(inputs),
    ...(scopeId !== undefined && { scopeId }),
    ...(causationId !== undefined && { causationId }),
    ...(transport !== undefined && { transport }),
    ...(fork !== undefined && { fork: { ...fork } }),
    createdAt: timeText(createdAt),
    ...(startedAt !== undefined && { startedAt: timeText(startedAt) }),
    ...(completedAt !== undefined && { completedAt: timeText(completedAt) }),
    ...(openNodes !== undefined && { openNodes: openNodes.map((node) => ({ ...node })) }),
    ...(usage?.nodeExecutions !== undefined && { nodeExecutions: usage.nodeExecutions }),
  };
  return objectOf(redactor.redacted(record));
}

/** The last events of a run, at most 2000 and 4 MiB. */
export async function logOf(
  store: Pick<Store, 'events'>,
  major: Major,
  run: Run,
  redactor: BundleRedactor,
): Promise<{ readonly events: readonly RunEvent[]; readonly section: JsonObject }> {
  const kept: { readonly event: RunEvent; readonly body: Json; readonly bytes: number }[] = [];
  let bytes = 0;
  let isWhole = run.lastSequence < MOST_EVENTS;
  for (let after = isWhole ? -1 : run.lastSequence - MOST_EVENTS; after < run.lastSequence; ) {
    const page = await store.events.list(run, { after, limit: EVENTS_AT_ONCE, maxBytes: PAGE_BYTES });
    for (const event of page) {
      const body = redactor.redacted(eventBody(major, run, { ...event, payload: limited(event.payload) }));
      const size = Buffer.byteLength(JSON.stringify(body));
      kept.push({ event: { ...event, payload: null }, body, bytes: size });
      bytes += size;
      await yieldToLoop();
    }
    while (bytes > LOG_BYTES) {
      bytes -= kept.shift()?.bytes ?? bytes;
      isWhole = false;
    }
    after = page.at(-1)?.sequence ?? run.lastSequence;
  }
  return { events: kept.map(({ event }) => event), section: { events: kept.map(({ body }) => body), isWhole } };
}

const MOST_EVENTS = 2000;
const EVENTS_AT_ONCE = 100;
const PAGE_BYTES = 1_048_576;
const LOG_BYTES = 4_194_304;

/** The deliveries of events to the subscriptions of a caller that wait or are dead letters, and the last attempts. */
export async function deliveriesOf(
  store: Pick<Store, 'subscriptions' | 'deliveries' | 'attempts'>,
  tenancy: Tenancy,
  { run, events, now }: { readonly run: Run; readonly events: readonly RunEvent[]; readonly now: number },
  redactor: BundleRedactor,
): Promise<JsonObject> {
  const subscriptions = await store.subscriptions.list(tenancy, { after: '', limit: MOST_SUBSCRIPTIONS + 1 });
  const queued: Json[] = [];
  const attempts: Json[] = [];
  for (const subscription of subscriptions.slice(0, MOST_SUBSCRIPTIONS)) {
    const { webhookId } = subscription;
    const ids = events.map(({ runId, sequence, timestamp }) => deliveryIdOf({ webhookId, runId, sequence, timestamp }));
    for (let from = 0; from < ids.length && queued.length < MOST_DELIVERIES; from += IDS_AT_ONCE) {
      const found = await store.deliveries.queued(webhookId, ids.slice(from, from + IDS_AT_ONCE), now);
      queued.push(...found.map((delivery) => deliveryView(subscription, delivery)));
    }
    const made = await store.attempts.list(webhookId, ATTEMPTS_READ);
    const ofRun = made.filter(({ runId }) => runId === run.runId);
    if (attempts.length < MOST_DELIVERIES)
      attempts.push(...ofRun.map((attempt) => ({ webhookId, ...attemptView(attempt) })));
    await yieldToLoop();
  }
  const isWhole =
    subscriptions.length <= MOST_SUBSCRIPTIONS && queued.length < MOST_DELIVERIES && attempts.length < MOST_DELIVERIES;
  return objectOf(redactor.redactedByForm({ queued, lastAttempts: attempts, isWhole }));
}

const MOST_SUBSCRIPTIONS = 200;
const MOST_DELIVERIES = 2000;
const IDS_AT_ONCE = 500;
const ATTEMPTS_READ = 100;

/** The entries of the audit log about a run, among the newest 20 000 entries that were written since its creation. */
export async function decisionsAbout(
  store: Pick<Store, 'audit'>,
  run: Run,
  redactor: BundleRedactor,
): Promise<JsonObject> {
  const head = await store.audit.head();
  const found: StoredEntry[] = [];
  let to = head?.atSequence ?? 0;
  let isWhole = false;
  for (let looked = 0; looked < MOST_ENTRIES && found.length < MOST_DECISIONS && !isWhole; looked += ENTRIES_AT_ONCE) {
    const from = Math.max(to - ENTRIES_AT_ONCE + 1, 1);
    const chunk: StoredEntry[] = [];
    if (to >= 1) for await (const entry of store.audit.entries(from, to)) chunk.push(entry);
    found.unshift(...chunk.filter((entry) => isAbout(entry, run)));
    // The entry of a run's creation is not older than the run, but the clocks of two hosts may differ.
    const oldest = chunk[0];
    isWhole = from === 1 || (oldest !== undefined && Date.parse(oldest.occurredAt) < run.createdAt - CLOCKS_DIFFER_MS);
    to = from - 1;
    await yieldToLoop();
  }
  const entries = found.map(({ atSequence, action, actor, target, occurredAt, details, hash }) => ({
    ...{ atSequence, action, actor, target, occurredAt, hash },
    details: { ...details },
  }));
  return objectOf(redactor.redactedByForm({ entries, isWhole }));
}

const MOST_ENTRIES = 20_000;
const ENTRIES_AT_ONCE = 1000;
const MOST_DECISIONS = 2000;
const CLOCKS_DIFFER_MS = 300_000;

function isAbout({ target, details }: StoredEntry, { runId, tenant, mode }: Run): boolean {
  if (details.tenant !== tenant || details.mode !== mode) return false;
  // A target is an id, or two joined by a slash: the tenant and the run, or the run and one of its nodes.
  return details.run === runId || target?.split('/').includes(runId) === true;
}

/** Replaces a value that would crowd the others out of the bundle. */
function limited(value: Json): Json {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > LARGEST_VALUE_BYTES ? { leftOut: true, bytes } : value;
}

const LARGEST_VALUE_BYTES = 262_144;

function timeText(time: number): string {
  return new Date(time).toISOString();
}

function objectOf(json: Json): JsonObject {
  return isJsonObject(json) ? json : {};
}
