import { createHash } from 'node:crypto';
import type { Tenancy } from '@svc/auth';
import { HostError } from '../errors.ts';
import { within } from '../ports/clock.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { type IdempotencyClaim, sealedForReply } from '../ports/idempotency.ts';
import { describeError } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { SecretBox } from '../sealing/secret-box.ts';

/** A reply as it is stored: everything of it that its caller received. */
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
  /** The parts that identical requests have in common: major, path parameters, query and body. */
  readonly parts: readonly (string | Uint8Array)[];
}

/**
 * Stores an outcome in the transaction of its effect, so that a crash cannot separate them. The stored outcome is
 * final.
 */
export type Keep = (outcome: Outcome, transaction: Transaction) => Promise<void>;

/** The work of a request with a key. */
export interface Work {
  /** When it resolves, an outcome that it stored is durable. */
  readonly perform: (keep: Keep) => Promise<Outcome>;
  /** Makes the outcome of a rejection of `perform`. */
  readonly refused: (error: unknown) => Outcome;
}

/**
 * Executes `work` at most once for a key. Every request with the same key gets the stored outcome, if there is one.
 *
 * @throws {HostError} `idempotency_key_mismatch` when the key was used for a different request, `idempotency_in_flight`
 * while another request with the key is executed
 */
export type Once = (
  request: KeyedRequest,
  work: Work,
) => Promise<{ readonly outcome: Outcome; readonly replayed: boolean }>;

export interface OnceOptions extends Pick<HostPorts, 'clock' | 'random' | 'log'> {
  /** Leases on keys and the retention of replies go by it. */
  readonly storeClock: StoreClock;
  readonly store: Pick<Store, 'idempotency' | 'transaction'>;
  readonly secrets: SecretBox;
  /** How long a stored reply is replayed, in ms. At least a day. */
  readonly retentionMs: number;
}

/**
 * Guarantees one execution for a key across all hosts of a store. A claim on a key is held under a lease. When the
 * lease has expired, the next request executes again, and the former holder's outcome is rejected together with the
 * transaction that it is stored in. Outcomes are sealed, because they may hold secrets that are shown once.
 *
 * @see Interface: Errors, `idempotency_in_flight`
 */
export function once(options: OnceOptions): Once {
  const executions = new Executions(options);
  return (request, work) => executions.run(request, work);
}

class Executions {
  readonly #options: OnceOptions;
  /**
   * Executions of this process by their key, so that a repeated request waits for them instead of polling the store.
   */
  readonly #underWay = new Map<string, UnderWay>();

  constructor(options: OnceOptions) {
    this.#options = options;
  }

  async run(request: KeyedRequest, work: Work): ReturnType<Once> {
    const { clock, random } = this.#options;
    const claim = claimOf(request, random);
    const id = sealedForReply(claim);
    const deadline = clock.monotonic() + WAIT_MS;
    // No await between the last look and `set`: of concurrent requests one executes.
    for (let other = this.#holder(id); other !== undefined; other = this.#holder(id)) {
      if (!(await within(clock, deadline - clock.monotonic(), other.ended))) throw inFlight(1);
    }
    const leaseUntil = clock.monotonic() + LEASE_MS;
    const execution = this.#execute(claim, digestOf(request), work);
    const ended = execution.then(
      () => {},
      () => {},
    );
    const own = { ended, leaseUntil };
    this.#underWay.set(id, own);
    try {
      return await execution;
    } finally {
      if (this.#underWay.get(id) === own) this.#underWay.delete(id);
    }
  }

  #holder(id: string): UnderWay | undefined {
    const holder = this.#underWay.get(id);
    return holder === undefined || holder.leaseUntil <= this.#options.clock.monotonic() ? undefined : holder;
  }

  async #execute(claim: IdempotencyClaim, digest: string, work: Work): ReturnType<Once> {
    const { store, secrets, storeClock, retentionMs } = this.#options;
    const now = await storeClock.read();
    const leaseUntil = now + LEASE_MS;
    const begun = await store.idempotency.begin(claim, { digest, now, leaseUntil, expiresAt: now + retentionMs });
    switch (begun.kind) {
      case 'claimed':
        return { outcome: await this.#perform(claim, work), replayed: false };
      case 'completed':
        return { outcome: JSON.parse(secrets.open(begun.sealed, sealedForReply(claim))), replayed: true };
      case 'in-flight':
        throw inFlight(Math.max(1, Math.ceil((begun.leaseUntil - now) / 1000)));
      case 'mismatch':
        throw mismatch();
    }
  }

  async #perform(claim: IdempotencyClaim, { perform, refused }: Work): Promise<Outcome> {
    const { store } = this.#options;
    let stored: Outcome | undefined;
    const keep: Keep = async (outcome, transaction) => {
      await this.#store(claim, outcome, transaction);
      stored = outcome;
    };
    let outcome: Outcome;
    try {
      outcome = await perform(keep);
      if (stored !== undefined) return stored;
    } catch (error) {
      // The transaction of a stored outcome may have been rolled back. If it was not, the write below changes nothing.
      outcome = refused(error);
    }
    const settled = isRepeatable(outcome)
      ? store.transaction((transaction) => keep(outcome, transaction))
      : store.idempotency.release(claim);
    await settled.catch((error: unknown) => this.#leaveToLease(error));
    return outcome;
  }

  async #store(claim: IdempotencyClaim, outcome: Outcome, transaction: Transaction): Promise<void> {
    const { store, secrets, storeClock, retentionMs } = this.#options;
    const sealed = secrets.seal(JSON.stringify(outcome), sealedForReply(claim));
    const reply = { sealed, expiresAt: storeClock.now() + retentionMs };
    if (!(await store.idempotency.complete(claim, reply, transaction))) throw inFlight(1);
  }

  /**
   * The effect is durable, so the caller gets its reply even when the store is unavailable. The key is free when its
   * lease expires.
   */
  #leaveToLease(error: unknown): void {
    this.#options.log({ level: 'error', event: 'idempotency.not-settled', ...describeError(error) });
  }
}

interface UnderWay {
  /** Resolves when the execution has ended; never rejects. */
  readonly ended: Promise<void>;
  /** From this time on, in ms of the monotonic clock, another request may execute. */
  readonly leaseUntil: number;
}

/** Far longer than a transaction may take. A host that died holds its keys for this time. */
const LEASE_MS = 30_000;
const WAIT_MS = 5_000;

/**
 * Returns true for an outcome that a repeated request would get again: a success, or a refusal that time does not
 * change. Other outcomes may differ next time: a refused credential or scope, a body that did not validate, a limit, a
 * failure.
 */
function isRepeatable({ status, headers, body }: Outcome): boolean {
  if (status < 200 || status >= 500) return false;
  if (status === 401 || status === 403 || status === 429 || headers['retry-after'] !== undefined) return false;
  return status !== 400 || !NOT_REPEATABLE.has(errorIn(body));
}

const NOT_REPEATABLE: ReadonlySet<unknown> = new Set(['validation_error', 'idempotency_key_invalid']);

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

/** Includes the caller's workspaces: they are defaults of the body, so that another reach makes another request. */
function digestOf({ tenancy, parts }: KeyedRequest): string {
  const hash = createHash('sha256');
  const reach = tenancy.workspaces === 'all' ? 'all' : JSON.stringify(tenancy.workspaces);
  for (const part of [reach, ...parts]) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}

function inFlight(retryAfter: number): HostError {
  const message = 'A request with this Idempotency-Key is still being executed. Repeat it after Retry-After.';
  return new HostError('idempotency_in_flight', message, {
    details: { retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}

function mismatch(): HostError {
  const message = 'This Idempotency-Key was used for a different request. Use a new key for a new request.';
  return new HostError('idempotency_key_mismatch', message, { details: undefined });
}
