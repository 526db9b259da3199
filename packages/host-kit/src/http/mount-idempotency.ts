import type { Principal } from '@svc/auth';
import type { Once } from '../idempotency/once.ts';
import type { Json } from '../json.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Answer } from './answer.ts';
import { outcomeOf, REPLAYED } from './idempotency.ts';
import type { MountRoute, Reply } from './route.ts';

/** A request to a mount with an effect, as the pipeline has read it. */
export interface MountEffect {
  readonly route: MountRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly principal: Principal;
  readonly key: string | undefined;
  readonly body: Uint8Array | undefined;
}

/** The work of a request to a mount: its effect, and the reply that is made of its result. */
export interface MountWork<Result extends Json> {
  readonly perform: (save: Save<Result>) => Promise<Result>;
  readonly reply: (result: Result) => Promise<Reply>;
  readonly refused: (error: unknown) => Answer;
}

/**
 * Executes the effect of a mount's request at most once under its idempotency key. The result is stored, not the reply:
 * a repeated request gets a reply of the same result, which may be a stream. A key belongs to its principal, because the
 * mounts serve principals of one workspace apart.
 */
export async function effectOnce<Result extends Json>(
  once: Once,
  { route, params, query, principal, key, body }: MountEffect,
  { perform, reply, refused }: MountWork<Result>,
): Promise<Reply> {
  if (key === undefined) return reply(await perform(saveNothing));
  const request = {
    tenancy: principal.tenancy,
    key: JSON.stringify([principal.id, key]),
    operation: `host ${route.method} ${route.path}`,
    parts: [JSON.stringify(params), query.toString(), body ?? ''],
  };
  const { outcome, replayed } = await once(request, {
    perform: async (keep) =>
      resultOutcome(await perform((result, transaction) => keep(resultOutcome(result), transaction))),
    refused: (error) => outcomeOf(refused(error)),
  });
  const answered = outcome.status === RESULT ? await reply(JSON.parse(outcome.body ?? 'null')) : replyOf(outcome);
  return replayed ? { ...answered, headers: { ...answered.headers, ...REPLAYED } } : answered;
}

/** The status under which a result is stored. A refusal has another one. */
const RESULT = 200;

function resultOutcome(result: Json) {
  return { status: RESULT, headers: {}, body: JSON.stringify(result) };
}

function replyOf({ status, headers, body }: ReturnType<typeof outcomeOf>): Reply {
  return { status, headers, ...(body !== undefined && { body: new TextEncoder().encode(body) }) };
}
