import type { Major, Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { z } from 'zod';
import { HostError, invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type AuthorizedCall, type Route, route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Trigger } from '../ports/triggers.ts';
import { managedTrigger } from '../triggers/operate.ts';
import { type RegisteredTrigger, type RegisterTriggerOptions, registerTrigger } from '../triggers/register.ts';
import { partsOfCursor, textOfCursor } from '../wire/cursor.ts';
import {
  registeredTrigger,
  registeredTriggerBody,
  triggerDeadLetterBody,
  triggerDeadLetterPage,
} from '../wire/trigger.ts';
import { triggerExample, triggerRegistration } from '../wire/trigger-registration.ts';

export interface TriggerRoutesOptions extends RegisterTriggerOptions {
  readonly served: Pick<Served, 'overlap'>;
  /** Dead letters expire by it. */
  readonly storeClock: Pick<StoreClock, 'read'>;
  /** The URL to which the sender of a trigger posts; undefined for a trigger that is no webhook and no form. */
  readonly ingestUrl: (trigger: Trigger) => string | undefined;
}

/**
 * Defines the operations of the protocol on triggers. The others are a mount.
 *
 * @see Interface: States and transitions, Durable subscription (trigger bridge)
 */
export function triggerRoutes(options: TriggerRoutesOptions): Route[] {
  const { store, storeClock, ingestUrl } = options;
  return [
    routeWithBody({
      operationId: 'createTriggerSubscription',
      scope: 'webhooks:manage',
      schema: triggerRegistration,
      describes: {
        tag: 'Triggers',
        summary: 'Register a trigger',
        description:
          'A message of the source starts a run: of a sender that signs (`webhook`), of a page (`form`), of a broker (`queue`), of a mail relay (`email`), of a URL that the host reads (`stream`), of a table (`change`), or of a time (`schedule`). The mapping selects the workflow and its inputs from the message. Runs have ' +
          'the authority of the caller, which needs `runs:create` and is judged again at each message. A generated secret is ' +
          'in this response only.',
        example: triggerExample,
        answers: { 201: json('The trigger, with the URL for its sender.', registeredTrigger) },
      },
      serve: ({ principal, major }, body, save: Save<RegisteredTrigger>) =>
        registerTrigger(options, principal, major, body, save),
      reply: (registered) => ({ status: 201, body: registeredTriggerBody(registered, ingestUrl(registered.trigger)) }),
    }),
    route({
      operationId: 'listTriggerDeadLetters',
      scope: 'webhooks:manage',
      describes: {
        tag: 'Triggers',
        summary: 'List dead letters of a trigger',
        description: 'Messages that started no run, newest first. Their content is not included.',
        query: PAGE,
        answers: { 200: json('A page of dead letters.', triggerDeadLetterPage, { headers: ['Cache-Control'] }) },
        errors: ['not_found', 'id_tenant_mismatch'],
      },
      async serve(call) {
        const trigger = await addressed(options, call);
        const limit = limitIn(call.query);
        const page = { before: cursorIn(call.query, trigger), limit: limit + 1, outcome: 'dead-lettered' } as const;
        const found = await store.triggers.messages(trigger.triggerId, { ...page, now: await storeClock.read() });
        const shown = found.slice(0, limit);
        const last = shown.at(-1);
        const more = found.length > limit && last !== undefined;
        return {
          status: 200,
          headers: { 'cache-control': 'private, no-store' },
          body: {
            deliveries: shown.map((letter) => triggerDeadLetterBody(trigger, letter)),
            ...(more && { nextCursor: cursorText(trigger, last.deliveryId) }),
          },
        };
      },
    }),
  ];
}

/** Major 1 hides triggers of other workspaces: their ids are not found. Major 2 names the tenant in the id. */
async function addressed({ store, served }: TriggerRoutesOptions, call: AuthorizedCall): Promise<Trigger> {
  const { major, params, principal } = call;
  const { tenant } = principal.tenancy;
  const resolved = resolveId(params.id ?? '', { tenant, major, overlap: served.overlap });
  if (!resolved.ok) throw resolved.error;
  return FOUND[major](managedTrigger(store, principal, resolved.id));
}

const FOUND: Readonly<Record<Major, (found: Promise<Trigger>) => Promise<Trigger>>> = {
  1: (found) =>
    found.catch((error: unknown) => {
      if (!HostError.is(error) || error.code !== 'forbidden') throw error;
      throw new HostError('not_found', 'There is no such trigger.', { details: undefined });
    }),
  2: (found) => found,
};

const PAGE = {
  limit: z.int().min(0).default(50).describe('The maximum number of dead letters. A value above 200 means 200.'),
  cursor: z.string().min(1).max(2048).optional().describe('The `nextCursor` of the previous page of the same trigger.'),
};

/** A limit out of range is clamped, not rejected. */
function limitIn(query: URLSearchParams): number {
  const text = query.get('limit') ?? '50';
  if (!/^[0-9]{1,9}$/.test(text)) throw invalid({ field: 'query.limit', problem: 'must be a whole number' });
  return Math.min(Math.max(Number(text), 1), 200);
}

/** It is valid for its trigger only. */
function cursorText({ triggerId }: Trigger, deliveryId: string): string {
  return textOfCursor([triggerId, deliveryId]);
}

function cursorIn(query: URLSearchParams, { triggerId }: Trigger): string | undefined {
  const text = query.get('cursor');
  if (text === null) return undefined;
  const [owner, deliveryId] = partsOfCursor(text);
  if (owner === triggerId && typeof deliveryId === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(deliveryId))
    return deliveryId;
  throw invalid({ field: 'query.cursor', problem: 'must be the nextCursor of a page of this trigger' });
}
