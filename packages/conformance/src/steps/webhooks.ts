import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Api } from '../api.ts';
import { body, fits, holds } from '../expect.ts';
import type { Answer } from '../http/answer.ts';
import { jsonOf } from '../http/answer.ts';
import { Mismatch } from '../mismatch.ts';
import type { Arrival, Inbox, Scripted } from '../receiver/receiver.ts';
import { carries, verify } from '../receiver/signature.ts';
import type { Major } from '../rule.ts';
import { delivery, type RunEvent } from '../shapes/event.ts';
import { bareId, segment } from '../shapes/id.ts';
import { registered1, registered2 } from '../shapes/webhook.ts';
import type { World } from '../world.ts';

/** Options of `subscribe`. */
export interface Wanted {
  /** Default: `run.completed`. */
  readonly events?: readonly string[];
  /** Default: the tag of the check, so that only its own runs are delivered. */
  readonly tags?: readonly string[] | 'none';
  /** Responses of the receiver. Default: 200. */
  readonly answers?: readonly Scripted[];
  /** Default: the client of the check's major with the main key. */
  readonly api?: Api;
}

/** A subscription with its inbox. */
export interface Subscribed {
  readonly webhookId: string;
  readonly secret: string;
  readonly inbox: Inbox;
  /** Ends the subscription before the check does. */
  unregister(): Promise<Answer>;
}

export const COMPLETED = 'run.completed';

/**
 * A URL that every host accepts and that never resolves: `.invalid` is a reserved name, and registration does not
 * resolve names.
 */
export const SILENT_URL = 'https://receiver.conformance.invalid/hook';

/** Registers an inbox of the suite. The subscription is unregistered when the check has ended. */
export async function subscribe(world: World, wanted: Wanted = {}): Promise<Subscribed> {
  const { events = [COMPLETED], tags = [world.tag], answers = [200], api = world.api } = wanted;
  const inbox = world.inbox(...answers);
  const registration = { url: inbox.url, events, ...(tags !== 'none' && { tags }) };
  const { webhookId, secret } = await register(world, api, registration);
  return { webhookId, secret, inbox, unregister: () => api.delete(placeOf(world, api.major, webhookId)) };
}

/** Registers a URL, with the further members that the major requires. */
export async function register(
  world: World,
  api: Api,
  registration: object,
): Promise<{ readonly webhookId: string; readonly secret: string; readonly answer: Answer }> {
  const minted = randomBytes(32).toString('hex');
  const answer = await api.post('/webhooks', { ...registration, ...besides(world, api.major, minted) });
  const registered = registeredIn(answer, api.major, minted);
  world.conceal(registered.secret);
  unregisterAfterwards(world, api, registered.webhookId);
  return { ...registered, answer };
}

/** Further members of a registration: the workspace in major 1, the secret in major 2. */
export function besides({ target }: Pick<World, 'target'>, major: Major, secret: string): object {
  return major === 1 ? { tenantId: target.workspace ?? '' } : { secret };
}

function registeredIn(answer: Answer, major: Major, minted: string): { webhookId: string; secret: string } {
  if (major === 1) return body(answer, 201, registered1);
  return { ...body(answer, 201, registered2), secret: minted };
}

export function unregisterAfterwards(world: World, api: Api, webhookId: string): void {
  world.afterwards((after) => {
    return after.under(api.major, api.caller).delete(placeOf(world, api.major, webhookId));
  });
}

/** Unregisters a subscription that the host should have refused, when the check has ended. */
export function undo(world: World, answer: Answer, api: Api = world.api): void {
  const taken = z.looseObject({ webhookId: z.string() }).safeParse(jsonOf(answer));
  if (answer.status === 201 && taken.success) unregisterAfterwards(world, api, taken.data.webhookId);
}

/** Returns the path of a subscription, with the workspace that major 1 requires in its query. */
export function placeOf({ target }: Pick<World, 'target'>, major: Major, webhookId: string, behind = ''): string {
  const query = major === 1 ? `?tenantId=${segment(target.workspace ?? '')}` : '';
  return `/webhooks/${segment(webhookId)}${behind}${query}`;
}

/** Waits until `count` deliveries have arrived. */
export async function arrived(
  world: World,
  { inbox }: Pick<Subscribed, 'inbox'>,
  count = 1,
  withinMs: number = world.target.patienceMs,
): Promise<readonly Arrival[]> {
  const inTime = await inbox.until((arrivals) => arrivals.length >= count, withinMs, world.signal);
  if (!inTime) {
    const times = count === 1 ? 'a delivery' : `${count} deliveries`;
    throw new Mismatch(`${times} to the subscription within ${withinMs / 1000} s`, `${inbox.arrivals.length} of them`);
  }
  return inbox.arrivals;
}

/** Waits for the first delivery about a run. */
export async function arrivalOf(world: World, { inbox }: Pick<Subscribed, 'inbox'>, runId: string): Promise<Arrival> {
  const withinMs = world.target.patienceMs;
  await inbox.until((arrivals) => isAbout(arrivals, runId), withinMs, world.signal);
  const found = inbox.arrivals.find((arrival) => isAbout([arrival], runId));
  holds(
    found !== undefined,
    `a delivery about ${runId} within ${withinMs / 1000} s`,
    `${inbox.arrivals.length} deliveries`,
  );
  return found;
}

/** Tells whether any of the deliveries is about a run, in either form of its id. */
export function isAbout(arrivals: readonly Arrival[], runId: string): boolean {
  return runsIn(arrivals).some((id) => bareId(id) === bareId(runId));
}

/** Extra wait before a check concludes that a delivery was not sent, in ms. */
export const QUIET_MS = 700;

/** Waits until the same event was delivered to another subscription, and `QUIET_MS` longer. */
export async function settled(world: World, witness: Pick<Subscribed, 'inbox'>, count = 1): Promise<void> {
  await arrived(world, witness, count);
  await world.sleep(QUIET_MS);
}

/** Body of a delivery. */
export interface Delivered {
  readonly runId: string;
  readonly workspaceId?: string | undefined;
  readonly event: RunEvent;
}

/** Verifies the signature of a delivery and returns its body, in the form of the major. */
export function deliveredIn(arrival: Arrival, major: Major, secret: string): Delivered {
  verify(arrival, carries(arrival, 'SVC') ? 'SVC' : 'X-svc', secret);
  const json = jsonOf({ text: arrival.body.toString('utf8') });
  return fits(json, delivery[major]);
}

/** Returns the ids of the runs in deliveries. Signatures are not verified. */
export function runsIn(arrivals: readonly Arrival[]): readonly string[] {
  return arrivals.map(({ body: bytes }) => {
    const json = jsonOf({ text: bytes.toString('utf8') });
    return typeof json === 'object' && json !== null && 'runId' in json ? String(json.runId) : '';
  });
}
