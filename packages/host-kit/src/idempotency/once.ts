import { createHash } from 'node:crypto';
import type { Tenancy } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { type IdempotencyClaim, sealedFor } from '../ports/idempotency.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { SecretBox } from '../sealing/secret-box.ts';

/** A reply as it is kept: everything that its caller saw of it. */
export interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly tenancy: Tenancy;
  readonly key: string;
  readonly operation: string;
  /** Everything that makes two requests the same: major, path parameters, query and body. */
  readonly parts: readonly (string | Uint8Array)[];
}

/** Keeps an outcome in the transaction of what it tells of, so that no crash can part them. It is the outcome from then on. */
export type Keep = (outcome: Outcome, transaction: Transaction) => Promise<void>;

/** What is done under a key. */
export interface Work {
  /** When it resolves, what it kept is durable. */
  readonly perform: (keep: Keep) => Promise<Outcome>;
  /** How a rejection of it is told. */
  readonly refused: (error: unknown) => Outcome;
}

/**
 * Does `work` at most once for a key, and answers everybody who asks for the same with its outcome: with what it kept, if it kept one.
 *
 * @throws {HostError} `idempotency_key_mismatch` when the key was used for something else, `idempotency_in_flight` while another
 * is at it
 */
export type Once = (
  request: KeyedRequest,
  work: Work,
) => Promise<{ readonly outcome: Outcome; readonly replayed: boolean }>;

export interface OnceOptions {
  readonly store: Pick<Store, 'idempotency' | 'transaction'>;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** At least a day. */
  readonly retentionMs: number;
}

/**
 * Exactly one execution under a key, over all hosts that share the store. A claim is held under a lease; whoever finds it over
 * executes again, and what the former holder keeps from then on is refused, together with the transaction that it is kept in.
 * Outcomes are sealed, for they may hold secrets that are shown once.
 *
 * @see Interface: Errors, `idempotency_in_flight`
 */
export function once(options: OnceOptions): Once {
  const { store, secrets, clock, random, log, retentionMs } = options;
  // What this process is at, so that who asks meanwhile can wait for it instead of asking the store.
  const underWay = new Map<string, UnderWay>();

  return async (request, work) => {
    const claim = claimOf(request, random);
    const id = sealedFor(claim);
    const deadline = clock.now() + WAIT_MS;
    for (;;) {
      const other = underWay.get(id);
      if (other === undefined || other.leaseUntil <= clock.now()) break;
      if (!(await endsBefore(deadline, other.ended))) throw inFlight(1);
    }
    const leaseUntil = clock.now() + LEASE_MS;
    const execution = executed(claim, digestOf(request), leaseUntil, work);
    const ended = execution.then(
      () => {},
      () => {},
    );
    const own = { ended, leaseUntil };
    underWay.set(id, own);
    try {
      return await execution;
    } finally {
      if (underWay.get(id) === own) underWay.delete(id);
    }
  };

  async function executed(claim: IdempotencyClaim, digest: string, leaseUntil: number, work: Work) {
    const now = clock.now();
    const begun = await store.idempotency.begin(claim, { digest, now, leaseUntil, expiresAt: now + retentionMs });
    switch (begun.kind) {
      case 'claimed':
        return { outcome: await perform(claim, work), replayed: false };
      case 'completed':
        return { outcome: opened(begun.sealed, claim), replayed: true };
      case 'in-flight':
        throw inFlight(Math.max(1, Math.ceil((begun.leaseUntil - now) / 1000)));
      case 'mismatch':
        throw mismatch();
    }
  }

  async function perform(claim: IdempotencyClaim, { perform: attempted, refused }: Work): Promise<Outcome> {
    let kept: Outcome | undefined;
    const keep: Keep = async (outcome, transaction) => {
      const reply = { sealed: sealed(outcome, claim), expiresAt: clock.now() + retentionMs };
      if (!(await store.idempotency.complete(claim, reply, transaction))) throw inFlight(1);
      kept = outcome;
    };
    let outcome: Outcome;
    try {
      outcome = await attempted(keep);
      if (kept !== undefined) return kept;
    } catch (error) {
      // Whatever was kept may have been undone. If it was not, it stays, and what is written here changes nothing.
      outcome = refused(error);
    }
    await settle(() =>
      isKept(outcome)
        ? store.transaction((transaction) => keep(outcome, transaction))
        : store.idempotency.release(claim),
    );
    return outcome;
  }

  /** What was done is done. A store that is away now leaves the key to its lease. */
  async function settle(write: () => Promise<void>): Promise<void> {
    await write().catch((error: unknown) => {
      log({ level: 'error', event: 'idempotency.not-settled', ...describeError(error) });
    });
  }

  function sealed(outcome: Outcome, claim: IdempotencyClaim): Uint8Array {
    return secrets.seal(JSON.stringify(outcome), sealedFor(claim));
  }

  function opened(reply: Uint8Array, claim: IdempotencyClaim): Outcome {
    return JSON.parse(secrets.open(reply, sealedFor(claim)));
  }

  async function endsBefore(deadline: number, other: Promise<void>): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => {
      cancel = clock.at(deadline, () => resolve(false));
    });
    const inTime = await Promise.race([other.then(() => true), late]);
    cancel();
    return inTime;
  }
}

interface UnderWay {
  readonly ended: Promise<void>;
  /** From then on another may execute it. */
  readonly leaseUntil: number;
}

/** Far above what a transaction may take; a host that died keeps its keys for no longer. */
const LEASE_MS = 30_000;
const WAIT_MS = 5_000;

/**
 * Kept is what would be the same again: what succeeded, and refusals that time does not mend. Not kept is what may end another way
 * next time: a refused credential or scope, a body that did not validate, a limit, a failure.
 */
function isKept({ status, headers, body }: Outcome): boolean {
  if (status < 200 || status >= 500) return false;
  if (status === 401 || status === 403 || status === 429 || headers['retry-after'] !== undefined) return false;
  return status !== 400 || !NOT_KEPT.has(errorIn(body));
}

const NOT_KEPT: ReadonlySet<unknown> = new Set(['validation_error', 'idempotency_key_invalid']);

function errorIn(body: string | undefined): unknown {
  const parsed: unknown = body === undefined ? undefined : JSON.parse(body);
  return typeof parsed === 'object' && parsed !== null && 'error' in parsed ? parsed.error : undefined;
}

function claimOf({ tenancy, operation, key }: KeyedRequest, random: Random): IdempotencyClaim {
  return {
    tenant: tenancy.tenant,
    mode: tenancy.mode,
    operation,
    keyHash: createHash('sha256').update(key).digest('base64url'),
    owner: Buffer.from(random(16)).toString('base64url'),
  };
}

/** With the caller's workspaces: what a body leaves out is filled in from them, so that another reach makes another request. */
function digestOf({ tenancy, parts }: KeyedRequest): string {
  const hash = createHash('sha256');
  const reach = tenancy.workspaces === 'all' ? 'all' : JSON.stringify(tenancy.workspaces);
  for (const part of [reach, ...parts]) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}

function inFlight(retryAfter: number): HostError {
  const message = 'A request with this Idempotency-Key is being executed. Send it again after Retry-After.';
  return new HostError('idempotency_in_flight', message, {
    details: { retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}

function mismatch(): HostError {
  const message = 'This Idempotency-Key was used for another request. Take a new key for a new request.';
  return new HostError('idempotency_key_mismatch', message, { details: undefined });
}
