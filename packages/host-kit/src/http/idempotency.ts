import { createHash } from 'node:crypto';
import type { Principal } from '@svc/auth';
import type { Major, Operation } from '@svc/versioning';
import { HostError, invalid } from '../errors.ts';
import type { Once, Outcome } from '../idempotency/once.ts';
import type { Access } from './access.ts';
import { type Answer, answerOf } from './answer.ts';
import { canonicalParams } from './canonical-params.ts';
import type { ByMajor } from './description.ts';
import type { Call } from './route.ts';

/** A mutating request, as the pipeline has read it. */
export interface Mutation {
  readonly operation: Operation;
  readonly major: Major;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly principal: Principal;
  /** As received; undefined where the operation takes none. */
  readonly body: Uint8Array | undefined;
}

/** The part of a call that depends on the idempotency key. */
export type Keyed = Pick<Call, 'keyName' | 'keep'>;

/** The same for a request without a key. */
export const UNKEYED: Keyed = { keyName: undefined, keep: async () => {} };

/** Whether an operation honours `Idempotency-Key`: it changes something, and its caller is authenticated. */
export function takesKey({ method }: Pick<Operation, 'method'>, access: Access): boolean {
  return method !== 'GET' && access !== 'public';
}

/**
 * Executes a mutation at most once under its key. The stored answer of an earlier execution carries
 * `SVC-Idempotent-Replay: true`.
 */
export async function servedOnce(
  once: Once,
  key: string,
  { operation, major, params, query, principal, body }: Mutation,
  serve: (keyed: Keyed) => Promise<Answer>,
  refused: (error: unknown) => Answer,
): Promise<Answer> {
  const spelled = canonicalParams(params, principal.tenancy.tenant, major);
  const parts = [String(major), JSON.stringify(spelled), query.toString(), body ?? ''];
  const request = { tenancy: principal.tenancy, key, operation: operation.operationId, parts };
  const keyName = createHash('sha256').update(`${operation.operationId} ${key}`).digest('base64url');
  const { outcome, replayed } = await once(request, {
    perform: async (keep) =>
      outcomeOf(await serve({ keyName, keep: (reply, transaction) => keep(outcomeOf(answerOf(reply)), transaction) })),
    refused: (error) => outcomeOf(refused(error)),
  });
  return replayed ? { ...outcome, headers: { ...outcome.headers, ...REPLAYED } } : outcome;
}

/** The headers of a reply to a repeated request. */
export const REPLAYED: Readonly<Record<string, string>> = { 'svc-idempotent-replay': 'true' };

/** An answer as it is stored. @throws {TypeError} for a stream */
export function outcomeOf({ status, headers, body }: Answer): Outcome {
  if (body instanceof ReadableStream)
    throw new TypeError(
      'An operation that honours Idempotency-Key must not answer with a stream. Return the whole body.',
    );
  return { status, headers, body: body instanceof Uint8Array ? UTF_8.decode(body) : body };
}

/** A repeated request gets the very bytes again, also those of a U+FEFF at their start. */
const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Reads the idempotency key of a request, in the grammar of its major.
 *
 * @throws {HostError} `validation_error` in major 1, `idempotency_key_invalid` in major 2
 */
export function idempotencyKeyIn(headers: Headers, major: Major): string | undefined {
  const key = headers.get(HEADER);
  if (key === null) return undefined;
  const problem = PROBLEM[major](key);
  if (problem !== undefined) throw REFUSE[major](problem);
  return key;
}

const HEADER = 'Idempotency-Key';

const PROBLEM: ByMajor<(key: string) => string | undefined> = {
  1: (key) => (/^[A-Za-z0-9._~-]{1,255}$/.test(key) ? undefined : 'must be 1 to 255 characters of A-Z a-z 0-9 . _ ~ -'),
  2: (key) => {
    const isFormed = /^[A-Za-z0-9._~-]{22,128}$/.test(key);
    if (isFormed && new Set(key).size >= FEWEST_CHARACTERS) return undefined;
    return 'must be 22 to 128 characters of A-Z a-z 0-9 . _ ~ - that hold 128 bits of chance, such as a random UUID';
  },
};

/** The fewest different characters of a random key. Fewer occur less than once in 10^9 random keys, in any alphabet. */
const FEWEST_CHARACTERS = 6;

const REFUSE: ByMajor<(problem: string) => HostError> = {
  1: (problem) => invalid({ field: `header.${HEADER}`, problem }),
  2: (problem) => new HostError('idempotency_key_invalid', `${HEADER} ${problem}.`, { details: undefined }),
};
